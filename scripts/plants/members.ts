import { type Plant, patch } from './plant.ts';

const members = 'test/walks/postgres-members.test.ts';
const live = 'test/walks/postgres-members-live.test.ts';
const sessions = 'test/walks/postgres-members-sessions.test.ts';
const membership = 'src/storage/postgres/membership.ts';
const rules = 'test/walks/postgres-members-rules.test.ts';
const lookValues = 'src/domain/notifications/evaluated-values.ts';
const sharedFeed = 'src/feed/shared-feed.ts';
const logReading = 'src/feed/log-reading.ts';
const wanted = 'src/storage/postgres/wanted-values.test.ts';

/** Several processes on one database. */
export const plantsOfMembers: readonly Plant[] = [
  {
    name: 'the will of one connection stays when the next one begins elsewhere',
    ...{
      file: 'src/storage/postgres/sessions.test.ts',
      test: 'is not lost when the next one begins elsewhere',
      says: /taken along/,
    },
    patches: [
      patch(
        'src/storage/postgres/sessions.ts',
        'where key = $1 and owner <> $2 and (($3 and not is_begun)',
        'where key = $1 and owner <> $2 and ((not $3 and not is_begun)',
      ),
    ],
  },
  {
    name: 'cluster messages are not acknowledged before they were applied',
    ...{
      file: 'src/feed/shared-feed.test.ts',
      test: 'not acknowledged before it was acted on',
      says: /it says that it knows|nobody tried again/,
    },
    patches: [patch(logReading, 'if (acknowledge !== undefined) settleBeside();', '')],
  },
  {
    name: 'no retained message is delivered before messages of other processes were read',
    ...{
      file: 'src/mqtt/broker/retained.test.ts',
      test: 'before messages of other processes were read',
      says: /old/,
    },
    patches: [patch('src/mqtt/broker/retained.ts', 'await heardOthers();', '')],
  },
  {
    name: 'who was given up can commit nothing',
    ...{ file: members, test: 'one that slept is given up', says: /it stays|204/ },
    patches: [
      patch(membership, 'member = $2 and not ended', 'member = $2'),
      patch(
        'src/storage/postgres/members.ts',
        "members[0]?.counted === true ? members : 'lost'",
        'members',
      ),
    ],
  },
  {
    name: 'who did not hear the others trusts nothing',
    ...{ file: 'src/feed/shared-feed.test.ts', test: 'and trusts nothing', says: /true !== false/ },
    patches: [patch(logReading, 'performance.now() - heardAt < memberLimits.trustMs', 'true')],
  },
  {
    name: 'a change is answered when the others have heard of it',
    ...{ file: members, test: 'is refused at the other once', says: /taken back|shared|401/ },
    patches: [
      patch(sharedFeed, 'await barrier.heard(position, by)', 'void barrier.heard(position, by)'),
    ],
  },
  {
    name: 'changes of all processes come one after the other',
    ...{
      file: 'src/storage/postgres/data-plane.test.ts',
      test: 'wait for no change of another kind',
      says: /did not wait/,
    },
    patches: [patch(membership, 'writer = 0 for update', 'writer = 0')],
  },
  {
    name: 'pushes of several processes to one sensor come one after the other',
    ...{
      file: 'src/storage/postgres/data-plane.test.ts',
      test: 'moved to chunks meanwhile',
      says: /select series|duplicate key|\d+ !== (240|360)/,
    },
    patches: [
      patch(
        'src/storage/postgres/writer.ts',
        'order by series for no key update',
        'order by series',
      ),
      patch('src/storage/postgres/timeseries/series-state.ts', ' for no key update of sensors', ''),
    ],
  },
  {
    name: 'a push locks a sensor that was made anew while it waited',
    ...{
      file: 'src/storage/postgres/data-plane.test.ts',
      test: 'made anew while they waited',
      says: /it was not locked/,
    },
    patches: [
      patch(
        'src/storage/postgres/timeseries/series-state.ts',
        'own === undefined ?',
        'own === undefined || some !== asked ?',
      ),
    ],
  },
  {
    name: 'corrections lock their sensor',
    ...{
      file: 'src/storage/postgres/corrected-planes.test.ts',
      test: 'wait for the pushes to their sensor',
      says: /it did not wait for its sensor/,
    },
    patches: [
      patch(
        'src/storage/postgres/store-context.ts',
        'sensors: [sensorFrom(args)], isOfOwners',
        'isOfOwners',
      ),
    ],
  },
  {
    name: 'corrections of an owner at several processes are counted together',
    ...{
      file: 'src/storage/postgres/corrected-planes.test.ts',
      test: 'are no more than so many',
      says: /deep-equal/,
    },
    patches: [
      patch(
        'src/storage/postgres/store-context.ts',
        "isOfOwners: name === 'insertCorrection'",
        'isOfOwners: false',
      ),
    ],
  },
  {
    name: 'evaluations of a device are filed in the order of commits',
    ...{
      file: 'src/storage/postgres/data-plane.test.ts',
      test: 'in the order of their commits',
      says: /deep-equal/,
    },
    patches: [
      patch('src/storage/postgres/evaluations.ts', 'order by id for no key update', 'order by id'),
    ],
  },
  {
    name: 'a value reaches the subscribers of other processes',
    ...{ file: live, test: 'reaches subscribers at the other', says: /it heard 0 of 50/ },
    patches: [
      patch('src/storage/postgres/timeseries/datapoints.ts', 'await tellInSteps(tx, notes);', ''),
    ],
  },
  {
    name: 'what a process had claimed of the outbox is due when it ended',
    ...{
      file: 'src/storage/postgres/outbox.test.ts',
      test: 'due at once where a process that claimed it',
      says: /actuation 2/,
    },
    patches: [patch('src/storage/postgres/members.ts', 'await tx.run(freeClaims, member);', '')],
  },
  {
    name: 'a rule knows what it came to at another process',
    ...{ file: rules, test: 'remember what any of them was pushed', says: /it fired at the other/ },
    patches: [
      patch(
        'src/domain/notifications/evaluation-runner.ts',
        'states.refresh(deviceId, remembered);',
        '',
      ),
    ],
  },
  {
    name: 'a push does not wait for evaluations of a process that stands still',
    ...{ file: rules, test: 'wait for no process that stands still', says: /waited for another/ },
    patches: [
      patch(
        'src/domain/notifications/evaluation-queue.ts',
        'return first.isLeft || (isLate && runnableOf(deviceId, first) !== undefined);',
        'return first.isLeft;',
      ),
    ],
  },
  {
    name: 'a process that lost its place at a device discards its evaluation',
    ...{
      file: 'src/storage/postgres/evaluations.test.ts',
      test: 'are taken once',
      says: /ended|fired/,
    },
    patches: [
      patch('src/storage/postgres/evaluations.ts', 'if (isEnded) {', 'if (ids.length > 0) {'),
      patch('src/storage/sql/firing.ts', "if (!found.is_ours) return { kind: 'taken' };", ''),
    ],
  },
  {
    name: 'a push behind one that may fire is evaluated in its turn',
    ...{
      file: 'src/domain/notifications/commit-evaluations.test.ts',
      test: 'a push behind others',
      says: /strictly deep-equal/,
    },
    patches: [
      patch(
        'src/domain/notifications/commit-evaluations.ts',
        'if (!isCalm(unnoted, judged, datapoints, states)) return false;',
        'void datapoints;',
      ),
    ],
  },
  {
    name: 'a push that changes what a rule remembers is evaluated in its turn',
    ...{
      file: 'src/domain/notifications/rule-evaluation.test.ts',
      test: 'what a rule remembers says',
      says: /it begins to hold/,
    },
    patches: [patch('src/domain/notifications/rule-evaluation.ts', ' && !isChanged', '')],
  },
  {
    name: 'versions that cannot read each other’s tables do not serve together',
    ...{
      file: 'src/storage/postgres/starting.test.ts',
      test: 'do not serve together',
      says: /Missing expected rejection/,
    },
    patches: [
      patch(
        'src/storage/postgres/migrate.ts',
        '    await refuseBesideOlder(client, version, from);\n',
        '',
      ),
    ],
  },
  {
    name: 'a rule is evaluated with the values of its place in the queue',
    ...{ file: rules, test: 'in the order of commits', says: /strictly deep-equal/ },
    patches: [patch(lookValues, '...parts.pushesOf(waiting)', '')],
  },
  {
    name: 'what is logged before a session is adopted is for its client',
    ...{ file: sessions, test: 'after a process was killed', says: /the second got/ },
    patches: [
      patch(
        'src/mqtt/broker/catch-up.ts',
        'page = await shared.missed(after);',
        'page = { entries: [], isLast: true };',
      ),
    ],
  },
  {
    name: 'what was found in the log is not queued twice',
    ...{ file: sessions, test: 'goes on at another process with QoS 2', says: /deep-equal/ },
    patches: [
      patch('src/mqtt/broker/session.ts', 'origin.at <= (heard', 'origin.at <= 0 * (heard'),
    ],
  },
  {
    name: 'what was heard elsewhere is not queued twice, however late it is read',
    ...{ file: 'src/mqtt/broker/outbound.test.ts', test: 'what a session had', says: /it had 7 4/ },
    patches: [
      patch('src/mqtt/broker/outbound.ts', '&& isKnown(state, delivery.message)', '&& false'),
    ],
  },
  {
    name: 'what a command takes away is gone at all processes',
    ...{
      file: 'test/walks/postgres-members-commands.test.ts',
      test: 'what a command takes away',
      // What comes first, the answers to requests or the connection over MQTT, is chance.
      says: /strictly deep-equal|the connection goes on/,
    },
    patches: [
      patch(
        'tools/admin/postgres/accounts.ts',
        'if (changes.length === 0 ||',
        'if (changes.length >= 0 ||',
      ),
    ],
  },
  {
    name: 'all of a long push reaches the subscribers of other processes',
    ...{ file: 'src/feed/entry-text.test.ts', test: 'told in parts', says: /deep-equal/ },
    patches: [patch('src/feed/entry-text.ts', 'hasWhole(push) ? 0 : firstOfLast(push)', '0')],
  },
  {
    name: 'a will outlives the process of its client',
    ...{ file: sessions, test: 'comes once, also when its process', says: /it heard dropped/ },
    patches: [
      patch(
        'src/mqtt/broker/adoption.ts',
        'for (const will of left) adoptWill(will, knownHere !== undefined);',
        '',
      ),
    ],
  },
  {
    name: 'what a commit brought that was refused and made all the same is told here',
    ...{
      file: 'src/storage/postgres/writer.test.ts',
      test: 'is told here once it proves to be made',
      says: /'a'/,
    },
    patches: [
      patch('src/storage/postgres/writer.ts', 'own.isRefused = true;', 'doubt = undefined;'),
    ],
  },
  {
    name: 'a message that the log handed on is only acknowledged when it is sent again',
    ...{
      file: 'test/walks/postgres-members-doubt.test.ts',
      test: 'its publisher goes on at',
      says: /'second'/,
    },
    patches: [
      patch(
        'src/storage/postgres/timeseries/kept-ids.ts',
        'coalesce(handed_on, 0) = 1 as "isHandedOn"',
        'false as "isHandedOn"',
      ),
    ],
  },
  {
    name: 'what a process changes of the session of another one is refused',
    ...{
      file: 'src/storage/postgres/sessions.test.ts',
      test: 'what others change of a session',
      says: /deep-equal/,
    },
    patches: [
      patch(
        'src/storage/sql/session-writes.ts',
        'cluster === undefined || row.owner === cluster.own',
        "typeof cluster !== 'string'",
      ),
    ],
  },
  {
    name: 'failed logins at several processes count together',
    ...{
      file: 'test/walks/postgres-members-logins.test.ts',
      test: 'count together, over HTTP and MQTT',
      says: /(200|401) !== 429/,
    },
    patches: [
      patch(
        'src/domain/users/failure-limiters.ts',
        "telling?.note(name, key, window === undefined ? 'forgiven' : 'failed');",
        '',
      ),
    ],
  },
  {
    name: 'all values are wanted from the commit on that takes a session',
    ...{ file: wanted, test: 'are all that there are from the commit on', says: /falsy/ },
    patches: [patch('src/storage/postgres/sessions.ts', '  await tx.run(wantAll, member);\n', '')],
  },
];
