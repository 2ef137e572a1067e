# Build: everything that is needed to compile.
FROM node:24.21.0-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-fund --no-audit
COPY . .
RUN node scripts/build.ts

# Packages of the running service alone. The image brings Node 24, so the optional packages that
# bring one are left out.
FROM node:24.21.0-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --omit=dev --omit=optional --no-fund --no-audit

FROM node:24.21.0-slim
ENV NODE_ENV=production \
    KIPIMO_DATA_DIR=/data
WORKDIR /app
RUN mkdir /data && chown node:node /data && chmod 0700 /data
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /build/dist ./dist
COPY package.json LICENSE ./
COPY bin ./bin
COPY docs ./docs
COPY deploy/healthcheck.js ./deploy/healthcheck.js
RUN ln -s /app/bin/kipimo.js /usr/local/bin/kipimo
USER node
VOLUME /data
EXPOSE 8080 1883 8883
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "deploy/healthcheck.js"]
CMD ["node", "bin/kipimo.js", "serve"]
