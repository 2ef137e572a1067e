import { type Plant, patch } from './plant.ts';

const wanted = 'src/storage/postgres/wanted-values.test.ts';

/** Sessions and values of several processes on one database. */
export const plantsOfMemberSessions: readonly Plant[] = [
  {
    name: 'values that a session may get are not given up while it is behind',
    ...{ file: wanted, test: 'are all that there are from the commit on', says: /strictly equal/ },
    patches: [
      patch(
        'src/domain/members/wanted-values.ts',
        'ofAll + behind.size > 0 ? all',
        'ofAll > 0 ? all',
      ),
    ],
  },
  {
    name: 'a subscription waits for pushes that began before it',
    ...{ file: wanted, test: 'are waited for until commits have ended', says: /falsy/ },
    patches: [patch('src/storage/postgres/sessions.ts', '        await commitsEnd();\n', '')],
  },
  {
    name: 'a group that a commit gives up does not count any more',
    ...{
      file: 'src/domain/members/wanted-values.test.ts',
      test: 'a group that was given up meanwhile',
      says: /strictly equal/,
    },
    patches: [patch('src/domain/members/wanted-values.ts', '      settled &= beginning;\n', '')],
  },
  {
    name: 'a session that is given away is kept until another process has it',
    ...{
      file: 'src/mqtt/broker/ownership.test.ts',
      test: 'a session is given away',
      says: /strictly deep-equal/,
    },
    patches: [
      patch(
        'src/mqtt/broker/ownership.ts',
        '    // The session stays here until another process has it: it may never come.\n',
        '    registry.release(session);\n',
      ),
    ],
  },
  {
    name: 'what others retain while retained messages are read again is read again',
    ...{
      file: 'src/mqtt/broker/others.test.ts',
      test: 'what others retained is read again',
      says: /it does not ask again/,
    },
    patches: [
      patch('src/mqtt/broker/others.ts', '    doubtful.clear();\n', ''),
      patch(
        'src/mqtt/broker/others.ts',
        '    } catch (error) {\n',
        '      doubtful.clear();\n    } catch (error) {\n',
      ),
    ],
  },
  {
    name: 'a session that a refused claim took is taken up by its process',
    ...{
      file: 'test/walks/postgres-members-doubt.test.ts',
      test: 'that took a session',
      says: /each session was taken up/,
    },
    patches: [
      patch('src/mqtt/broker/adoption.ts', 'isInDoubt ? knowing(leftOut) : undefined', 'undefined'),
    ],
  },
  {
    name: 'a will that a full disk refuses is tried again',
    ...{
      file: 'src/mqtt/broker/wills.test.ts',
      test: 'a will that is given up leaves nothing in the store',
      says: /strictly deep-equal/,
    },
    patches: [patch('src/mqtt/broker/wills.ts', "return 'full';", "return 'over';")],
  },
  {
    name: 'others are heard beside a full page of the log',
    ...{ file: 'src/feed/log-reading.test.ts', test: 'beside others that write a page' },
    says: /falsy/,
    patches: [patch('src/feed/log-reading.ts', '      heardAt = goal.askedAt;\n', '')],
  },
  {
    name: 'what was read long before counts only while others are heard',
    ...{ file: 'src/feed/shared-feed.test.ts', test: 'one that hears nothing is waited for' },
    says: /strictly equal/,
    patches: [
      patch(
        'src/feed/shared-feed.ts',
        'performance.now() - readAt < memberLimits.rememberedMs',
        'readAt > 0',
      ),
    ],
  },
  {
    name: 'reading waits for deliveries whose rights are being looked up',
    ...{ file: 'src/mqtt/broker/outbound.test.ts', test: 'what becomes of deliveries' },
    says: /being asked for/,
    patches: [patch('src/mqtt/broker/outbound.ts', '    deciding.add(decided);\n', '')],
  },
  {
    name: 'heartbeats go before what waits',
    ...{ file: 'src/storage/postgres/member-connection.test.ts', test: 'a heartbeat waits' },
    says: /beat/,
    patches: [
      patch(
        'src/storage/postgres/member-connection.ts',
        'if (isUrgent) waiting.unshift(turn);\n      else waiting.push(turn);',
        'waiting.push(turn);',
      ),
    ],
  },
  {
    name: 'what a standby may not have yet is not read',
    ...{ file: 'src/storage/postgres/feed-log.test.ts', test: 'on a new connection a commit' },
    says: /one of each/,
    patches: [
      patch(
        'src/storage/postgres/feed-log.ts',
        'if (made !== confirmed) await writer.call(async () => undefined, {});',
        '',
      ),
    ],
  },
];
