/** A promise, how it is tried, and the line that tries it again. */
export interface Proof {
  title: string
  promise: string
  /** Rules of `docs/behaviour.md`. */
  rules: readonly string[]
  how: string
  /** What a round is, and what a check. */
  round: string
  check: string
  notTried: string
  again: { command: string; minutes: number }
  /** What its commands break on purpose, by the names that they have in the record. */
  controls: Readonly<Record<string, { breaks: string; command: string }>>
  /** How much of it the record should have, in rounds, checks or something else that is counted. */
  aim: Readonly<Record<string, number>>
  /** What must be installed. */
  needs?: string
}

/** By the names in the record, in the order of the page. */
export const proofs = {
  power: {
    title: 'Power cuts',
    promise: 'A message that was acknowledged, or shown to anybody, survives a power cut.',
    rules: ['D2', 'D3'],
    how: 'Clients write and read over HTTP and sockets. At a random moment the disk of the server is frozen: an ext4 in a file, of which a copy is taken in one instant, so that everything that the kernel had not written yet is gone. The journal of the file system is replayed, the database is checked, and a new server is asked for everything.',
    round: 'one cut, on a new disk',
    check: 'an answer, a message that a client was sent, or one in a page that it read, looked for on the disk after the cut',
    notTried: 'disks that lie about a sync, and file systems other than ext4',
    again: { command: 'node build.mjs crash --power --rounds 20', minutes: 3 },
    controls: { 'sync-never': { breaks: 'commits are not synced', command: 'node build.mjs crash --power --control' } },
    aim: { rounds: 200 },
    needs: 'root on Linux with loop devices, `xfsprogs` and `e2fsprogs`'
  },
  crash: {
    title: 'Killed servers',
    promise: 'A server that is killed at any moment loses nothing that it acknowledged, and stores nothing by halves or twice.',
    rules: ['D1', 'D3', 'O1', 'X1'],
    how: 'SIGKILL at random moments under load, again and again on the same data. Each time the database is read and checked, and the restarted server is asked for everything.',
    round: 'one kill and the restart after it',
    check:
      'an answer, a message that a client was sent, or one in a page that it read; each is looked for after every later kill of the run, and counted once',
    notTried: 'kills of a server on PostgreSQL (see [several instances](#several-instances))',
    again: { command: 'node build.mjs crash --rounds 100', minutes: 5 },
    controls: { 'answer-early': { breaks: 'answers leave before the commit', command: 'node build.mjs crash --control' } },
    aim: { rounds: 1_000 }
  },
  sweep: {
    title: 'Killed at every write',
    promise: 'A write is stored completely or not at all, at whichever system call the server dies.',
    rules: ['D4'],
    how: 'A script that does one of each kind of write runs once under `strace`, which counts every `fsync`, `fdatasync` and `pwrite64`. Then it runs again for each of these calls, and the server is killed at it, on new data each time.',
    round: 'one system call, killed at',
    check: 'one promise of the script: an answered message, a token, a session, settings, a removal',
    notTried: 'writes that are not in the script, such as attachments',
    again: { command: 'node build.mjs crash --sweep --rounds 60', minutes: 5 },
    controls: {
      'count-later': {
        breaks: 'a message and its counter are two transactions',
        command: 'node build.mjs crash --sweep --rounds 60 --control'
      }
    },
    aim: { rounds: 1_000 },
    needs: '`strace`'
  },
  errors: {
    title: 'Failing and full disks',
    promise: 'On a disk that fails or is full nothing is acknowledged that is not stored, and what was acknowledged before stays.',
    rules: ['F1', 'F2', 'F3'],
    how: 'The script of [killed at every write](#killed-at-every-write), with EIO from one system call on, and again with ENOSPC for those that write.',
    round: 'one system call, failing from there on',
    check: 'one promise of the script',
    notTried: 'disks that recover after an error, and reads that fail',
    again: { command: 'node build.mjs crash --errors --rounds 30', minutes: 5 },
    controls: {
      'answer-early': { breaks: 'answers leave before the commit', command: 'node build.mjs crash --errors --rounds 30 --control' }
    },
    aim: { rounds: 400 },
    needs: '`strace`'
  },
  instances: {
    title: 'Several instances',
    promise:
      'Everything holds with several instances of one server: what was acknowledged stays, numbers have no gap, and every client is told all of it, while instances, Redis and PostgreSQL fail.',
    rules: ['M1', 'M2', 'M3', 'M4'],
    how: 'Three instances on a PostgreSQL and a Redis. Clients write, read and listen at all of them and change from one to another. One to three of these strike in each round: an instance is killed (SIGKILL) or drained, Redis is killed, away for ten seconds, stopped, emptied or disconnected, PostgreSQL crashes or is away. Whatever becomes of Redis, every request must be answered, and what is stored be told within five seconds.',
    round: 'some seconds of load with its failures; then everybody rests, and everything is judged',
    check: 'an answer to a request, or an update that a connection was sent, compared with the history of all clients',
    notTried:
      'instances on several computers, a network that loses packets between them, and the failover of PostgreSQL under this load (a test of its own has that)',
    again: { command: 'node build.mjs instances --operations 20000', minutes: 5 },
    controls: {
      'seq-outside': {
        breaks: 'numbers are taken outside the transaction',
        command: 'node build.mjs instances --seconds 60 --control seq-outside'
      },
      'silent-bus': { breaks: 'the bus does not say what it lost', command: 'node build.mjs instances --seconds 120 --control silent-bus' },
      'late-look': {
        breaks: 'what did not arrive on the bus is looked for once a minute',
        command: 'node build.mjs instances --seconds 120 --control late-look'
      }
    },
    aim: { operations: 1_000_000 },
    needs: '`postgresql` and `redis-server`'
  },
  kills: {
    title: 'Killed wrappers and agents',
    promise: 'Whichever of wrapper, agent and server is killed, the phone ends with what the agent has: once, and in order.',
    rules: ['W1', 'X1'],
    how: 'A scripted agent gives long answers to a person at the terminal and on the phone. In each round one of wrapper, agent and server is killed in the middle, or all of them, and started again. At the end the phone is compared with what the agent wrote down.',
    round: 'one answer with its kill',
    check: 'a line that a person or the agent said',
    notTried:
      'the power of the computer that the agent runs on. With `--real` the same runs with Claude Code, Codex or opencode; that is not in this table',
    again: { command: 'node build.mjs kills --rounds 20', minutes: 5 },
    controls: {
      'new-names': {
        breaks: 'what a restarted wrapper tells again has another name',
        command: 'node build.mjs kills --rounds 6 --control'
      }
    },
    aim: { rounds: 200 }
  },
  cuts: {
    title: 'Agents without a network',
    promise: 'An agent goes on without the network, and its output arrives once and in order when that is back.',
    rules: ['W1', 'W2'],
    how: 'An agent says ten messages a second. Its link is reset, swallows everything, or is closed at one end only, for 15, 30 and 60 seconds, while a phone writes to it.',
    round: 'one time without a network',
    check: 'a message of the agent, or an answer to the phone',
    notTried: 'links that damage or delay single packets',
    again: { command: 'node build.mjs cuts --seconds 5,15', minutes: 3 },
    controls: {
      'one-try': { breaks: 'a message counts as delivered when its request failed', command: 'node build.mjs cuts --seconds 3 --control' }
    },
    aim: { rounds: 200 }
  },
  readers: {
    title: 'Readers that are cut off',
    promise: 'A client that is cut off, in any way and however often, ends with every message, once and in order.',
    rules: ['S1', 'S2', 'O4'],
    how: 'A client of ours follows a session while messages are written to it. Its connection is cut after a random number of bytes, reset, closed at one end, or silently lost.',
    round: 'one cut',
    check: 'a message, with its place in what the client was given',
    notTried: 'long-polling, which only clients of Happy use',
    again: { command: 'node build.mjs endure cuts --size 500', minutes: 4 },
    controls: {
      'read-twice': { breaks: 'a read begins one message too early', command: 'node build.mjs endure cuts --size 20 --control' }
    },
    aim: { rounds: 2_000 }
  },
  storm: {
    title: 'Reconnect storms',
    promise: 'After a restart thousands of clients come back spread over time, no request fails, and none misses a message.',
    rules: ['S5'],
    how: 'A server with many connected clients is killed while messages come, and started again.',
    round: 'one restart',
    check: 'one message that one client must have',
    notTried: 'more clients than the open files of one computer allow',
    again: { command: 'node build.mjs storm --clients 1000', minutes: 3 },
    controls: { 'equal-waits': { breaks: 'all clients wait equally long', command: 'node build.mjs storm --clients 200 --control' } },
    aim: { rounds: 20 }
  },
  clients: {
    title: 'Stalled readers and floods',
    promise:
      'Clients that stall, drip, flood or leave requests unfinished cannot fill the memory of the server, and keep nobody else from anything.',
    rules: ['B1', 'B2', 'B3', 'B5', 'B6', 'N2', 'N5', 'N8', 'P6', 'L1'],
    how: 'Hundreds to thousands of such clients of one kind, beside well-behaved ones that must be served in time; the memory of the server is measured. `test/endurance/trials.ts` lists the kinds.',
    round: 'one kind, in one size',
    check: 'one client, request, notice or MiB of it; they are judged together',
    notTried: 'floods from more than one computer',
    again: { command: 'node build.mjs endure stalling frames pongs posts', minutes: 6 },
    controls: {
      'no-bound': {
        breaks: 'what a client leaves unread is kept without an end',
        command: 'node build.mjs endure stalling --size 100 --control'
      }
    },
    aim: { rounds: 100 }
  },
  fuzz: {
    title: 'Malformed input',
    promise: 'No input of a client ends the server, is answered as a server error, or makes its memory grow.',
    rules: ['N1', 'N3', 'N5', 'N6', 'N7', 'Q4'],
    how: 'Mutated bytes, HTTP requests, bodies, WebSocket frames, Engine.IO and Socket.IO packets and events, made from valid ones by a seeded generator, from 32 attackers with accounts at once. Valid ones are among them, so that there is something to attack; they do not count. Meanwhile somebody else writes messages and must hear each, and the memory is measured. A server that writes to the prototype of all objects ends.',
    round: 'one run against a new server',
    check:
      'one malformed input that the server has judged: it answered it, or what came after it on the same connection, or closed that; no answer may be a server error',
    notTried: 'TLS, which a proxy or Node.js itself reads, and inputs chosen by coverage',
    again: { command: 'node build.mjs fuzz --seconds 240', minutes: 5 },
    controls: {
      'trust-json': { breaks: 'text that is no JSON is an unexpected error', command: 'node build.mjs fuzz --seconds 20 --control' }
    },
    aim: { checks: 10_000_000 }
  }
} as const satisfies Record<string, Proof>

/** Promises that take no long proof: the tests show them, in each of their runs. */
export const tested: readonly { title: string; promise: string; rules: readonly string[]; again: { command: string; minutes: number } }[] =
  [
    {
      title: 'Nothing approved by accident',
      promise:
        'A risky request takes a long press by somebody who saw all of it, and a wrapper accepts an answer only for its own question.',
      rules: ['U1', 'U3', 'U5', 'R7', 'R8'],
      again: { command: 'node build.mjs test test/journeys/decisions.test.ts test/wrapper/lying-server.test.ts', minutes: 4 }
    },
    {
      title: 'A server that cannot read',
      promise:
        'What clients seal is nowhere on the server in the clear, no secret is in a log, and the server’s sources import no code that opens it.',
      rules: ['P2', 'P3'],
      again: { command: 'node build.mjs test test/server/at-rest.test.ts test/server/canary.test.ts test/arrows.test.ts', minutes: 2 }
    },
    {
      title: 'Clients of Happy',
      promise: 'The published clients of Happy work with this server: what its tests send is answered as they expect.',
      rules: [],
      again: {
        command: 'node build.mjs test test/interop/quirks.test.ts test/interop/socketio-clients.test.ts test/interop/happy-cli.test.ts',
        minutes: 4
      }
    },
    {
      title: 'Clocks that jump',
      promise: 'Jumps of a clock neither end nor prolong anything, and a computer whose clock is wrong by years works.',
      rules: ['C1', 'C2', 'C3'],
      again: {
        command: 'node build.mjs test test/async/clock.test.ts test/wrapper/wrong-clock.test.ts test/journeys/clock.test.ts',
        minutes: 4
      }
    }
  ]

export type ProofName = keyof typeof proofs
