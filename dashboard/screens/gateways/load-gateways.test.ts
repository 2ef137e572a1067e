import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiRequest, Page } from '../../api/client.ts';
import { loadGateways } from './load-gateways.ts';

const created = '2026-01-01T00:00:00.000Z';

test('devices are found for each gateway, over several pages', async () => {
  const asked: ApiRequest[] = [];
  const total = 2_500;
  const gateways: unknown = ['g0', 'g1', 'empty'].map((id) => ({ id, date_created: created }));
  const loaded = await loadGateways(
    {
      getJson: async <Answer>() => gateways as Answer,
      getPage: async <Item>(request: ApiRequest): Promise<Page<Item>> => {
        asked.push(request);
        const offset = Number(request.query?.['offset'] ?? 0);
        const length = Math.min(1_000, total - offset);
        const items: unknown = Array.from({ length }, (_, index) => ({
          id: `d${offset + index}`,
          gateway_id: `g${(offset + index) % 2}`,
        }));
        return { items: items as readonly Item[], total };
      },
    },
    new AbortController().signal,
  );
  assert.equal(asked.length, 3);
  assert.deepEqual(
    loaded.map(({ id, devices }) => [id, devices?.length]),
    [
      ['g0', 1_250],
      ['g1', 1_250],
      ['empty', 0],
    ],
  );
});
