const kibibyte = 1_024;
const mebibyte = 1_024 * kibibyte;

/** The limits inside the sqlite engine, each with its unit and its reason. */
export const sqliteLimits = {
  /** How long a writer waits for another process, a command line tool, to commit. */
  busyTimeoutMs: 5_000,
  /** Pages kept by the connection that writes, which finds most of what it changes in them. */
  writeCacheKibibytes: 16 * 1_024,
  /** … and by the one that reads, which sees most of the file without copying. */
  readCacheKibibytes: 8 * 1_024,
  /** Young objects of the writer thread, two halves and large ones of 8 MiB each: few live long. */
  writerYoungMebibytes: 24,
  /** Memory outside its heap that objects of the writer thread may hold before collection. */
  writerExternalGrowthMax: 4 * mebibyte,
  /** The part of the file that reads see without copying. */
  readMapBytes: 256 * mebibyte,
  /** Pages of write-ahead log before they move to the database: 16 MiB, a few ms of work. */
  checkpointPages: 4_000,
  /** A write-ahead log that a long read made larger shrinks back to this. */
  walBytesMax: 64 * mebibyte,
  /** Calls to the writer that wait for their answer; beyond it they are refused. */
  callsWaitingMax: 20_000,
  /** How long answers are acted on in one turn of the event loop; those that came then wait. */
  answersMs: 5,
  /** Calls in one commit: an upper end to how long the first of them waits. */
  callsPerCommitMax: 1_000,
  /** Pages that a backup copies between two reports of its progress: 4 MiB. */
  backupPagesPerStep: 1_024,
  /** Compacting leaves so much of the disk free. */
  compactRoomBytes: 16 * mebibyte,
  /** A list reads this many devices between two checks of the time, as far as the rest lets it. */
  listDevicesPerRead: 16,
  /** So many devices, sensors and actuators are read, then others run. */
  listPartsPerSlice: 500,
  /** … or so many characters of their descriptions. */
  listCharactersPerSlice: 2 * mebibyte,
  /** … or for so long, whatever they hold. */
  listMsPerSlice: 5,
  /** Space that goes back to the disk. */
  space: {
    /** A writer that wrote nothing for so long is at rest. */
    quietMs: 200,
    /** A step is as long as a commit on a good disk. */
    stepMs: 4,
    /** The first step has these, and each one on a machine that is busy with something else. */
    pagesPerStepMin: 16,
    pagesPerStepMax: 2_048,
    /** Between two steps: four fifths of the time are left for what arrives. */
    pauseMs: 20,
    /** Begins at 256 KiB of free pages, and goes on until there are none. */
    freePagesMin: 64,
    /** Without a rest it begins when 64 MiB and a quarter of the file are free. */
    freePagesWhileBusy: 16_384,
    pauseWhileBusyMs: 200,
    /** A write-ahead log may be so large at rest: 31 pages; moving it costs two syncs. */
    walRestBytes: 128 * kibibyte,
    walQuietMs: 5_000,
    retryMs: 10_000,
  },
  /** Chunks that are written anew in the background. */
  renewal: {
    /** The first step: a start has other things to do. */
    startMs: 1_000,
    /** A writer that wrote nothing for so long is at rest. */
    quietMs: 200,
    /** As long as a commit on a good disk; the last piece of a step may take as long again. */
    stepMs: 4,
    /** Between two steps at rest: four fifths of the time are left for what arrives. */
    pauseMs: 20,
    /** … and without a rest: a fiftieth of the time is taken. */
    pauseWhileBusyMs: 200,
    /** After a walk that could not do all of it, as others were faster or the disk is full. */
    retryMs: 10_000,
    /** After a walk that did: the next one searches for rows that were filled badly since, … */
    againMs: 3_600_000,
    /** … when so many chunks were written since. */
    againChunks: 256,
  },
} as const;
