const [second, minute, day] = [1_000, 60_000, 86_400_000];

/** Every limit of the service, with its unit in its name and its reason beside it. */
export const limits = {
  // Names and texts [contract 3].
  idCharactersMax: 256,
  usernameCharactersMax: 64,
  /** Names, domains, units and kinds: long enough for a sentence, short enough for a list. */
  nameCharactersMax: 1_024,
  /** A `meta` object as JSON text: notes, not files. */
  metaBytesMax: 65_536,
  /** Value that an actuator is set to, as JSON text: a setting, not a file. */
  actuatorValueBytesMax: 65_536,
  /** For how long an actuator may be set before it is set back. */
  timedSettingMsMin: second,
  timedSettingMsMax: 366 * day,
  /** When an actuator is tried again that could not be set back. */
  timedSettingRetryMs: 5 * second,
  /** Sensors, and actuators, of one device. */
  sensorsPerDeviceMax: 1_000,
  /** Sensors and actuators together, as JSON text: a device is read and written in one piece. */
  devicePartsBytesMax: 2 * 1_048_576,
  /** Largest sensor or actuator that is taken however full the device is. */
  devicePartBytesFree: 512,
  calibrationPointsMax: 256,
  /** Devices, and gateways, of one project; as many as a page of a list. */
  projectMembersMax: 1_000,
  /** Values of one profile field, for instance telephone numbers. */
  profileEntriesMax: 20,
  /** A social message: a page of text, of which a channel may send less. */
  messageCharactersMax: 4_096,
  passwordCharactersMin: 8,
  passwordCharactersMax: 1_024,

  // HTTP bodies and requests [contract 2].
  bodyBytesMax: 1_048_576,
  freeBodyBytes: 4_096,
  valuesBodyBytesMax: 8 * 1_048_576,
  /** Unpacked size of a compressed body whose path sets no limit; agents send few megabytes. */
  inflatedBytesMax: 64 * 1_048_576,
  jsonDepthMax: 32,
  jsonCostMax: 10_000,
  requestHeadersMs: 30 * second,
  /** Eight megabytes over a slow mobile link. */
  requestMs: 5 * minute,
  keepAliveMs: 72 * second,
  /** Shorter answers fit a packet or two as they are. */
  compressedBytesMin: 1_024,
  /** Answers that are compressed at the same time, at about 1 MB of memory each. */
  compressionsMax: 64,
  /** Largest answer that costs no budget until it is seen to wait for its reader. */
  freeAnswerBytes: 16_384,
  /** Bytes counted for a streamed answer: a few pieces, and the step that they are cut from. */
  answerWindowBytes: 262_144,
  answerPieceBytes: 65_536,
  /** A reader that takes nothing of an answer for so long is cut off. */
  unreadMs: 2 * minute,
  /** Chunks of a body, however small; beyond them each must have `chunkBytesUsual` on average. */
  tinyChunksMax: 1_024,
  chunkBytesUsual: 8,
  /** Requests of one connection that come before the answers to those before them have left. */
  pipelinedRequestsMax: 64,
  /** Bytes counted for such a request with its answer, whatever their size. */
  pipelinedAnswerBytes: 4_096,
  /** A request with a longer head does not take the fast path. */
  shortHeadBytesMax: 4_096,
  /** How often connections are checked for those that keep us waiting too long. */
  connectionsCheckMs: second,
  /** From the first byte of TLS to its last handshake message, as for the head of a request. */
  tlsHandshakeMs: 30 * second,
  /** Wait until the last bytes have left and the peer has closed its side. */
  goodbyeMs: 5 * second,
  /** So long after the start the young generation of objects may grow: what stays is there. */
  startSettledMs: 3 * second,
  /** How long SIGTERM waits for requests under way. */
  drainMs: 10 * second,
  /** How long SIGTERM waits for everything; what was acknowledged is on disk long before. */
  stopMs: 30 * second,

  // Long work: filters, aggregates, exports.
  /** How long it keeps the event loop before other work has its slice. */
  turnMs: 5,
  /** Event-loop time of one request before its answer begins; the rest of the time it waits. */
  longWorkMsMax: 20 * second,

  /** For how long a correction can be undone [contract 10]. */
  undoMs: 30 * day,
  /** Values that one request puts right: an afternoon of a sensor that sends every ten seconds. */
  correctionItemsMax: 5_000,
  /** Corrected values of one request that are no numbers, as JSON text. */
  correctionCharactersMax: 131_072,
  correctionsPerSensorMax: 500,
  correctionBytesPerSensorMax: 524_288,
  /** Corrections on all things of one owner; all guests count as one owner. */
  correctionsPerOwnerMax: 10_000,
  correctionBytesPerOwnerMax: 32 * 1_048_576,
  /** Sensors whose corrections are kept at hand, and the bytes that these take. */
  overlaysMax: 10_000,
  overlayBytesMax: 32 * 1_048_576,
  /** A last value in lists that is longer is read by itself. */
  briefValueCharactersMax: 512,

  // Lists [spec 4, 8; contract 4, 5, 6].
  devicesPageDefault: 20,
  devicesPageMax: 1_000,
  /** New devices in one request. */
  devicesPerRequestMax: 1_000,
  gatewaysPageDefault: 20,
  gatewaysPageMax: 1_000,
  projectsPageDefault: 20,
  projectsPageMax: 1_000,
  socialsPageDefault: 20,
  socialsPageMax: 1_000,
  usersPageDefault: 100,
  usersPageMax: 1_000,
  datapointsPageDefault: 20,
  datapointsPageMax: 1_000_000,
  /** Datapoints fetched from the store in one step of a streamed answer. */
  datapointsPerStep: 5_000,
  /** Their values that are no numbers, in characters of JSON text; one more may be longer. */
  datapointCharactersPerStep: 262_144,
  /** Devices, and sensors, whose datapoints one read merges; devices that come to totals. */
  mergedDevicesMax: 100,
  mergedSensorsMax: 10_000,
  totalledDevicesMax: 1_000,
  /** Datapoints that a merged read fetches of each sensor at once, when there are many. */
  mergedDatapointsPerStepMin: 20,
  /** Characters of values that a merged read holds of all sensors at once. */
  mergedCharactersMax: 4 * 1_048_576,
  /** With what the longest of these values take beyond that, and 32 bytes for each number. */
  mergedBytesMax: 16 * 1_048_576,
  /** Datapoints that an aggregate or a downsampled read takes before other work has its slice. */
  datapointsPerScan: 4_096,
  /** The same of all sensors together, when their buckets are merged: 25 bytes each. */
  mergedScanRowsMax: 262_144,
  /** Buckets of one answer: about 10 MB of JSON. */
  bucketsMax: 100_000,
  /** First and last values that are text or structures, all buckets of an answer together. */
  bucketsTextCharactersMax: 16 * 1_048_576,
  /** Memory counted for a bucket or a downsampled datapoint until it is read. */
  summaryItemBytes: 128,
  /** Pixels across a wide plot, several times over. */
  downsampledPointsMax: 10_000,
  /** Points of all sensors of a downsampled answer together. */
  downsampledAnswerMax: 100_000,
  /** Devices, gateways or projects fetched from the store in one step of a streamed answer. */
  resourcesPerStep: 500,
  /** Devices shown inside a gateway; the others are found by q=gateway_id==… */
  devicesPerGatewayShown: 1_000,
  /** A filter is typed by people; more is an attack. */
  queryCharactersMax: 4_096,
  queryTestsMax: 64,
  patternCharactersMax: 512,
  /** A character of text costs up to 60 ns per instruction of the compiled pattern. */
  patternInstructionsMax: 256,
  /** Names and values to match; a longer text does not match a pattern. */
  patternTextCharactersMax: 2_048,
  /** Elements of an array that a filter evaluates. */
  queryElementsMax: 1_000,
  // Refused pushes, in memory: for users who wonder why nothing arrives.
  /** Kinds of refusals of one device and sender, the last ones; and senders beside its owner. */
  refusalsPerDeviceMax: 10,
  refusalSendersPerDeviceMax: 16,
  refusalMs: day,
  refusalBytesPerSenderMax: 65_536,
  refusalBytesMax: 4 * 1_048_576,
  refusalsPerBulkMax: 10,
  /** Refusals of a sender whose device is being looked up; what comes then is not remembered. */
  refusalsUnderWayPerSenderMax: 256,
  refusedExcerptMax: 80,
  /** A timestamp further ahead of our clock is refused [contract 6]. */
  timestampAheadMs: day,
  /** Bounds of KIPIMO_VALUE_BYTES_MAX: a short text, and the largest body on …/values. */
  valueBytesMaxMin: 1_024,
  valueBytesMaxMax: 8 * 1_048_576,
  /** Size of a commit, as the appender counts bytes: a larger array is committed alone. */
  commitBytesMax: 2 * 1_048_576,
  /** Pushes of a commit: all their callers are answered in one turn of the event loop. */
  commitPushesMax: 1_024,
  /** Bytes that wait for a commit, in all; one payer may use half. Beyond it the answer is 503. */
  commitQueueBytesMax: 256 * 1_048_576,
  /** Bytes that one payer may have waiting although others fill the queue. */
  commitQueueBytesFloor: 4_096,
  /** How often a batch is tried in parts, to find the push that cannot be stored. */
  commitTriesMax: 64,
  /** Datapoints of a long array that are checked before other work has its slice. */
  datapointsPerTurn: 8_192,
  /** A longer body of a push is read piece by piece. */
  largePushBytesMin: 131_072,
  largePushSliceBytes: 32_768,
  /** Settings of actuators that are stored at the same time; payers queue fairly for them. */
  settingsStoredAtOnce: 32,
  /** Large pushes that are read and stored at the same time; others wait in a queue. */
  largePushesAtOnce: 2,
  /** Size of a datapoint beside its value, as JSON text: keys, a timestamp, white space. */
  datapointBytesBesideValue: 1_024,
  /** Parts of this process that listen to the feed, not clients that watch. */
  feedListenersMax: 64,
  /** Record of a CSV that is read: a value as large as JSON may be, with quotes doubled. */
  csvRecordCharactersMax: 2 * 1_048_576,
  /** Lines of a bulk request that go to the commit together, and their bytes; two such wait. */
  bulkLinesPerStep: 8_192,
  bulkBytesPerStep: 1_048_576,
  /** Line, or element, of a bulk request. */
  bulkLineBytesMax: 1_048_576,
  /** Refused lines that a bulk answer lists; the others are counted. */
  bulkRefusalsMax: 1_000,
  /** Updates of a channel of ThingSpeak, and pairs of a form, in one body; more are refused. */
  bulkUpdatesMax: 50_000,
  formPairsMax: 256,
  /** Devices whose rights a bulk request remembers. */
  bulkDevicesMax: 20_000,

  // Accounts, tokens, keys [contract 4].
  /** Passwords that are hashed at once, and logins that wait in each lane, half of one network. */
  loginsInParallelMax: 4,
  loginsWaitingMax: 2_000,
  loginFailuresPerUser: 10,
  loginFailuresPerAddress: 100,
  /** On one account, by all strangers to it: then they wait in a queue, with a pause each. */
  loginFailuresOfStrangers: 100,
  slowLoginPauseMs: 200,
  /** Networks that an account was logged in to from: the newest are known. */
  knownNetworksPerUserMax: 20,
  /** How often it is written down that a known network was used again. */
  knownNetworkMs: day,
  /** Accounts that sign up from one network (/24, /48): at once, and one more after each pause. */
  signUpsPerAddress: 300,
  signUpPauseMs: second,
  loginFailureWindowMs: minute,
  loginFailureEntriesMax: 20_000,
  /** How often what was counted is written down, and of how many keys of each counter. */
  failuresPauseMs: 5 * second,
  failuresPerSaveMax: 1_000,
  /** A renewed token lives until this long after the login. */
  renewalMs: 30 * day,
  /** How long the link lives that the first start prints. */
  firstLoginMs: 60 * minute,
  /** A code for a forgotten password: how long it lives, and how often it may be typed. */
  passwordResetMs: 30 * minute,
  passwordResetTriesMax: 5,
  /** Codes sent within that time: to one account for one address, and for all strange ones. */
  passwordResetsPerUser: 3,
  passwordResetsOfStrangers: 10,
  passwordResetsPerAddress: 30,
  /** Codes of all accounts that are valid at once. */
  passwordResetsMax: 10_000,
  /** A code that proves an address: how long it lives, and how often it may be typed. */
  addressCodeMs: 30 * minute,
  addressCodeTriesMax: 5,
  /** Codes asked for within that time. */
  addressCodesPerUser: 5,
  addressCodesPerAddress: 10,
  addressCodesPerTarget: 5,
  /** Beyond it the first code of each account: the owner need not wait for others. */
  addressFirstCodesPerTarget: 6,
  addressFirstCodesPerNetwork: 2,
  addressCodesMax: 10_000,
  /** Calls whose text waits until the phone is answered. */
  callTextsMax: 2_000,
  tokensPerUserMax: 1_000,
  /** Browsers of one user that stay logged in; each for so long after it was used. */
  sessionsPerUserMax: 50,
  sessionMs: 30 * day,
  /** A cookie that was replaced works for so long more: two tabs renew at once. */
  sessionGraceMs: minute,
  sessionNameCharactersMax: 100,
  accessKeysPerUserMax: 1_000,
  accessKeyDevicesMax: 1_000,
  /** Changes that take an admin away, which are made one at a time. */
  adminChangesWaitingMax: 1_000,
  /** A file of accounts to import is read whole. */
  importBytesMax: 64 * 1_048_576,
  /** Tokens and keys remembered between requests, and how long before the store is asked again. */
  credentialCacheEntriesMax: 50_000,
  credentialCacheMs: 2 * second,
  /** Devices remembered between pushes, and what they may weigh in characters of JSON text. */
  deviceCacheEntriesMax: 50_000,
  deviceCacheCharactersMax: 48 * 1_048_576,
  /** Devices, sensors and actuators that one slice of a list takes of what is remembered. */
  deviceCachePartsPerSlice: 500,
  /** Of so many pairs of a thing and a user it is remembered what was granted; half of one user. */
  grantCacheEntriesMax: 100_000,
  // Social messages [contract 5].
  /** Recipients times channels of one request. */
  socialsPerBatchMax: 1_000,
  /** Messages kept for each sender; beyond it the oldest go. */
  socialsPerSenderMax: 10_000,
  /** Messages of one sender that wait to be sent; these are not dropped for newer ones. */
  socialsPendingPerSenderMax: 5_000,

  // Notifications [contract 7].
  notificationsPageDefault: 100,
  notificationsPageMax: 1_000,
  notificationsPerUserMax: 10_000,
  /** A push evaluates each of them: so many of one user on one sensor … */
  notificationsPerUserAndSensorMax: 100,
  /** … and so many of all users; the owner of the device is not kept out by others. */
  notificationsPerSensorMax: 1_000,
  /** Devices, and sensors, that one notification names. */
  conditionDevicesMax: 1_000,
  conditionSensorsMax: 100,
  /** Devices times sensors of one notification. */
  conditionPairsMax: 10_000,
  /** Notifications of strangers that name one device; its owner is exempt. */
  notificationsOfStrangersMax: 1_000,
  /** Users times channels of one notification. */
  deliveriesPerFiringMax: 100,
  throttlingSecondsMax: 10 * 365 * 86_400,
  expressionDurationMsMin: second,
  expressionDurationMsMax: 366 * day,
  /** The value of a sensor in a message: a number or a word, not a file. */
  variableCharactersMax: 256,
  /** Completed deliveries kept of each notification; the oldest go. */
  deliveriesPerNotificationMax: 1_000,
  deliveriesPageDefault: 100,
  /** Deliveries of one notification that wait; further ones are filed as failed. */
  deliveriesPendingMax: 1_000,
  /** Deliveries of one user's notifications that wait; further ones are filed as failed. */
  deliveriesPendingPerPayerMax: 10_000,
  /** Devices whose last values are remembered between evaluations. */
  evaluatedDevicesMax: 20_000,
  evaluatedCharactersMax: 33_554_432,
  /** Value characters that a rule sees of a sensor not pushed to, and how many larger values. */
  otherValueCharactersMax: 4_096,
  otherLargeValuesMax: 100,
  /** Evaluations remembered of one notification. */
  evaluationsMax: 50,
  /** How often a firing that could not be stored is tried again while its push waits. */
  firingAttemptsMax: 4,
  firingPauseMs: 250,
  /** Firings with a text for each delivery in one commit, and those that wait for one. */
  firingsCommitBytesMax: 2 * 1_048_576,
  firingsWaitingBytesMax: 64 * 1_048_576,
  firingsWaitingBytesFloor: 262_144,
  /** How long the answer to a push waits for firings of others than the owner of its device. */
  firingsOfOthersMs: 250,
  /** Firings that could not be stored, kept in memory to be stored later: of one owner half. */
  firingsUnstoredBytesMax: 32 * 1_048_576,
  firingsRetryMs: 2 * second,
  /** Datapoints of one sensor and millisecond that a rule remembers to have fired for. */
  firedKeysMax: 32,
  firedKeyCharactersMax: 64,
  /** States that changed without a firing are written so often. */
  statesPauseMs: second,
  /** At start: what was received so shortly before the newest is evaluated again. */
  catchUpMs: 10 * second,
  catchUpDatapointsMax: 1_000,
  /** Silences that are handled before the others that are due are put in order anew. */
  silencesPerLook: 64,
  /** How often the clock is checked for silences and deliveries: it may jump. */
  clockCheckMs: 250,
  /** A silence that could not be handled is tried again after so long. */
  silenceRetryMs: 5 * second,
  previewDatapointsMax: 2_000_000,
  previewFiringsMax: 1_000,
  previewDevicesMax: 100,
  previewSensorsMax: 1_000,

  /** A claimed delivery may be claimed again when the outbox has no news of it for so long. */
  deliveryLeaseMs: 2 * minute,
  /** A channel must have answered by then. */
  deliveryTimeoutMs: minute,
  deliveriesUnderWayPerChannelMax: 128,
  /** Of them those that one user pays for: a slow receiver keeps no other user waiting. */
  deliveriesUnderWayPerPayerMax: 16,
  /** And those to one host that users name, of all payers: a dead one keeps no other waiting. */
  deliveriesUnderWayPerHostMax: 16,
  /** And those to one address, whatever its names; many honest ones may be behind one. */
  deliveriesUnderWayPerNetworkMax: 64,
  /** Claimed deliveries that wait for their host: they take no slot of the channel. */
  deliveriesWaitingForHostsMax: 4_096,
  /** Then they come back later. The wait and the try end before the lease. */
  deliveryHostWaitMs: 45 * second,
  deliveryLifeMs: day,
  deliveryAttemptsMax: 150,
  deliveryPauseMsMin: 5 * second,
  deliveryPauseMsMax: 15 * minute,
  /** How often the outbox is read although nothing in it was known to be due. */
  outboxLookMs: 5 * second,
  outboxDrainMs: 5 * second,
  completionsPerCommitMax: 500,
  completionsWaitingMax: 10_000,
  testMessagesPerMinuteMax: 5,
  testMessagesUsersMax: 10_000,
  grantsPerResourceMax: 1_000,
  /** Groups of users that one account keeps, and the users in one of them. */
  groupsPerUserMax: 200,
  groupMembersMax: 1_000,
  /** Texts of a request of version 1 that are searched for in the sentence of its refusal. */
  quotedTextsMax: 1_000,
  // Numbers of what no quota of bytes counts, or what guests make without a token.
  gatewaysPerUserMax: 10_000,
  projectsPerUserMax: 1_000,
  /** Addresses whose guests' quotas are remembered. */
  guestAddressesMax: 20_000,
  guestDevicesMax: 100_000,
  guestGatewaysMax: 10_000,
  guestProjectsMax: 10_000,
} as const;
