const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

/** Every limit of MQTT, with its unit in its name and its reason beside it. */
export const mqttLimits = {
  // The broker [contract 8].
  packetBytesMax: 262_144,
  /** A PUBLISH below a device or gateway that is no value: gateways send web pages through. */
  deviceTopicPacketBytesMax: 2 * 1_048_576,
  /** A PUBLISH on a topic …/values, as the HTTP body of the same name. */
  valuesPacketBytesMax: 8 * 1_048_576,
  topicBytesMax: 1_024,
  topicLevelsMax: 16,
  clientIdCharactersMax: 256,
  /** A home's hub subscribes to each of its things; their bytes are counted, too. */
  subscriptionsPerSessionMax: 5_000,
  /** Filters of one SUBSCRIBE or UNSUBSCRIBE that are read; those behind are refused. */
  filtersPerPacketMax: 1_000,
  /** From the begin of a connection to its first byte. */
  silentMs: 5 * second,
  /** From the begin of a connection to the end of its CONNECT, as for the head of a request. */
  connectMs: 30 * second,
  /** Memory of a connection whose CONNECT has begun, beside the bytes of the CONNECT. */
  openingBytes: 12_288,
  /** A login that is queued for longer is refused. */
  loginMs: minute,
  /** MQTT 5 clients receive this one if they ask for more, or for none. */
  keepAliveSecondsMax: 600,
  /** Older clients cannot receive one: theirs is granted up to this, and none means this. */
  untoldKeepAliveSecondsMax: 3_600,
  /** Publishes of one connection that wait to be answered (receive maximum). */
  publishesUnderWayMax: 1_024,
  /** Ids of QoS 2 publishes that a client has not released; beyond it the oldest is forgotten. */
  receivedIdsMax: 4_096,
  /** QoS 1 and 2 messages on their way to one client. */
  inFlightMax: 256,
  /** Of one packet: more are an attack on the receivers. */
  userPropertiesMax: 1_000,
  topicAliasesMax: 10,
  /** The queue of one session, with the messages in flight. */
  queuedMessagesMax: 1_000,
  queuedBytesMax: 8 * 1_048_576,
  /** Deliveries to one session that wait until its rights are known. */
  deliveriesWaitingMax: 1_000,
  /** How long what other processes wrote waits to be read for deliveries that wait so. */
  decisionMsMax: 100,
  /** More of these are not waited for one by one. */
  decisionsMax: 2_000,
  /** Bytes a client has not read yet; beyond it QoS 0 is dropped and the rest waits. */
  socketBufferBytesMax: 1_048_576,
  /** Bytes all clients have not read; beyond it the clients with the most are disconnected. */
  socketBuffersBytesMax: 256 * 1_048_576,
  /** A client that reads nothing of a full buffer for so long is disconnected. */
  stuckMs: 30 * second,
  /** A session whose client does not come back. */
  sessionExpirySecondsMax: (30 * day) / second,
  /** Guests need no account to leave sessions behind. */
  guestSessionSecondsMax: day / second,
  /** Expired sessions, and their filters, that end in one second. */
  expiredPerSweepMax: 2_000,
  willDelaySecondsMax: day / second,
  /** Rows in one step of the store: what else is to be stored waits for as long. */
  storeRowsPerStep: 5_000,
  /** The pause before a step that failed is tried again. */
  storeRetryMs: second,
  /** Sessions of one payer that get a message at once; the others wait for the next slice. */
  deliveriesAtOnceMax: 64,
  /** Bytes that one message is handed on in at once, with what each delivery takes beside. */
  deliveredBytesAtOnceMax: 1_048_576,
  /** Deliveries to the sessions of one payer that wait for it. */
  deliveriesWaitingPerPayerMax: 100_000,
  /** Bytes of the messages that wait for it, of one payer and of all. */
  deliveriesWaitingBytesPerPayerMax: 16 * 1_048_576,
  deliveriesWaitingBytesMax: 128 * 1_048_576,
  /** Topics whose subscribers are remembered. */
  topicCacheEntriesMax: 20_000,
  /** Sessions, groups and payers that they name together, some 100 bytes each. */
  topicCacheRecipientsMax: 200_000,
  /** Members of a group whose rights are asked for one message, until one may have it. */
  groupMembersAskedMax: 64,
  /** Between two reads of what all published for groups: the time of one, and no more than this. */
  groupPauseMsMax: 5_000,
  /** Messages left to processes with a connected member of their group, and tried again. */
  sharesLeftMax: 10_000,
  /** The same in bytes. */
  sharesLeftBytesMax: 16 * 1_048_576,
  /** Wills that are begun in the store at once. */
  willsBegunMax: 256,
  /** Readings of the log for sessions that came, at once; the ends of 16 times as many. */
  replaysMax: 4,
  /** Retained messages handed to a new subscription in one slice. */
  retainedPerTurn: 50,
  /** Topics whose retained value was removed by a correction, and comes back when it is undone. */
  emptiedTopicsMax: 10_000,

  // Ports and topics.
  /** Topics whose meaning is remembered: some 100 bytes each. */
  topicsRememberedMax: 20_000,
  /** Of a longer array, the newest are delivered one by one: live values are not a history. */
  liveDatapointsPerPushMax: 1_000,
  /** Datapoints of a longer array are delivered in slices, with other work in between. */
  liveDatapointsAtOnceMax: 64,
  /** The same in bytes that each subscriber gets. */
  liveBytesAtOnceMax: 131_072,
  /** Settings of one actuator, and of all, that wait for a slice of their payer. */
  settingsWaitingPerTopicMax: 32,
  settingsWaitingMax: 512,
  /** Pushes to one sensor that wait until those of a longer array were handed on. */
  eventsBehindLongMax: 1_000,
  /** A WebSocket message: the largest MQTT packet with its topic and properties. */
  webSocketMessageBytesMax: 9 * 1_048_576,
  /** Parts of a WebSocket message: each takes some hundred bytes of memory, however short. */
  webSocketFragmentsMax: 1_024,
  webSocketChunksMax: 16_384,
  /** How often a connection's credential and its gateway are asked about again. */
  recheckMs: 30 * second,
  /** How often subscribers of the service's metrics get them. */
  systemMetricsMs: 10 * second,
} as const;
