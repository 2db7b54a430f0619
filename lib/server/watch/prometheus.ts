import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { ChannelKind } from '../../protocol/wire/notifications.ts'
import type { Soundness } from '../../store/safekeeping.ts'
import type { BackupState, Metrics } from './metrics.ts'

interface Counted extends Metrics {
  /** The Prometheus text format, version 0.0.4. */
  text(): Promise<string>
  close(): void
}

/** Values read on each scrape. */
interface Gauged {
  connections(): { app: number; session: number; machine: number }
  framesSent(): number
  gapsFilled(): number
}

/** Deliveries waiting. */
interface Queued {
  kinds: readonly ChannelKind[]
  /** When the next delivery of a kind is due; undefined if none waits. */
  nextDueAt(kind: ChannelKind): Promise<number | undefined>
  now(): number
}

/** The state of stored rows. */
interface RowsWatched {
  soundness(): Soundness
  now(): number
}

const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const commitSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2]
const commitMembers = [1, 2, 4, 8, 16, 32, 64, 128]

export function createMetrics(): Counted & {
  gauge(gauged: Gauged): void
  watchQueue(queued: Queued): void
  watchRows(rows: RowsWatched): void
  watchBackups(state: () => BackupState): void
} {
  const registry = new Registry()
  const registers = [registry]
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter({ name, help, labelNames, registers })

  const requests = counter('afield_http_requests_total', 'Requests by route and status class.', ['route', 'status'])
  const seconds = new Histogram({
    name: 'afield_http_request_seconds',
    help: 'Time from the head of a request to its answer.',
    labelNames: ['route'],
    buckets: requestSeconds,
    registers
  })
  const events = counter('afield_socket_events_total', 'Events that clients sent.', ['event', 'outcome'])
  const calls = counter('afield_calls_total', 'Calls between clients, by how they ended.', ['outcome'])
  const published = counter('afield_bus_events_total', 'Events published on the bus.', ['type'])
  const messages = counter('afield_messages_appended_total', 'Messages stored.')
  const commits = new Histogram({ name: 'afield_commit_seconds', help: 'Time of one commit.', buckets: commitSeconds, registers })
  const members = new Histogram({ name: 'afield_commit_writes', help: 'Writes that shared a commit.', buckets: commitMembers, registers })
  const pushes = counter('afield_push_events_total', 'Notifications by outcome.', ['result'])
  const deliveries = counter('afield_push_deliveries_total', 'Attempts to deliver a notification, by outcome.', ['channel', 'outcome'])
  const arrivals = counter('afield_push_arrivals_total', 'Notifications that a device acknowledged as shown.')
  const delay = watchProcess(registers)

  return {
    requestAnswered(route, status, ms) {
      requests.inc({ route, status: status === 'gone' ? status : `${Math.floor(status / 100)}xx` })
      seconds.observe({ route }, ms / 1000)
    },
    eventTaken: (event, outcome) => events.inc({ event, outcome }),
    callEnded: outcome => calls.inc({ outcome }),
    published(event) {
      published.inc({ type: event.type })
      if (event.type === 'change' && event.change.type === 'messages-added') messages.inc(event.change.messages.length)
    },
    committed(turn) {
      commits.observe(turn.ms / 1000)
      members.observe(turn.members)
    },
    notified: result => pushes.inc({ result }),
    delivered: (channel, outcome) => deliveries.inc({ channel, outcome }),
    arrived: () => arrivals.inc(),
    gauge: gauged => watchHub(gauged, registers),
    watchQueue: queued => watchQueue(queued, registers),
    watchRows: rows => watchRows(rows, registers),
    watchBackups: state => watchBackups(state, registers),
    text: () => registry.metrics(),
    close: () => delay.disable()
  }
}

function watchHub(gauged: Gauged, registers: Registry[]): void {
  new Gauge({
    name: 'afield_connections',
    help: 'Open socket connections by scope.',
    labelNames: ['scope'],
    registers,
    collect() {
      for (const [scope, count] of Object.entries(gauged.connections())) this.set({ scope }, count)
    }
  })
  watchTotal('afield_frames_sent_total', 'Frames sent to connections.', registers, () => gauged.framesSent())
  watchTotal('afield_gaps_filled_total', 'Gaps in a session that were filled from the store.', registers, () => gauged.gapsFilled())
}

function watchQueue({ kinds, nextDueAt, now }: Queued, registers: Registry[]): void {
  new Gauge({
    name: 'afield_push_overdue_seconds',
    help: 'How long the notification that waits the longest is due; 0 where none is.',
    labelNames: ['channel'],
    registers,
    async collect() {
      for (const channel of kinds) this.set({ channel }, Math.max(now() - ((await nextDueAt(channel)) ?? now()), 0) / 1000)
    }
  })
}

function watchRows({ soundness, now }: RowsWatched, registers: Registry[]): void {
  watchNow('afield_rows_damaged', 'Damaged rows found since the start.', registers, () => soundness().damaged)
  watchTotal('afield_rows_scrubbed_total', 'Rows compared with their checksums.', registers, () => soundness().scrubbed)
  watchTotal('afield_scrub_rounds_total', 'How often all rows were compared.', registers, () => soundness().rounds)
  watchNow('afield_disk_full', '1 while the disk is full and writes are rejected.', registers, () => (soundness().isFull ? 1 : 0))
  watchNow('afield_log_bytes', 'Size of the database WAL.', registers, () => soundness().logBytes)
  watchNow(
    'afield_log_checkpoint_age_seconds',
    'Since when the log has not moved into the database.',
    registers,
    () => Math.max(now() - soundness().logMovedAt, 0) / 1000
  )
}

function watchBackups(state: () => BackupState, registers: Registry[]): void {
  for (const outcome of ['ok', 'failed'] as const) {
    watchTotal(`afield_backups_${outcome}_total`, `Scheduled backups: ${outcome}.`, registers, () => state().taken[outcome])
  }
  watchNow(
    'afield_backup_last_good_time_seconds',
    'When the last successful backup was made; 0 for never.',
    registers,
    () => (state().goodAt ?? 0) / 1000
  )
}

// The library's own default metrics leave timers and observers behind when a server in the process closes.
function watchProcess(registers: Registry[]): { disable(): void } {
  const startedAt = Math.round(Date.now() / 1000 - process.uptime())
  watchTotal('process_cpu_seconds_total', 'User and system time.', registers, () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  watchNow('process_start_time_seconds', 'Start of the process, in seconds since 1970.', registers, () => startedAt)
  watchNow('process_resident_memory_bytes', 'Resident memory.', registers, () => process.memoryUsage.rss())
  watchNow('nodejs_heap_size_used_bytes', 'Used JavaScript heap.', registers, () => process.memoryUsage().heapUsed)
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  watchNow('nodejs_eventloop_lag_p99_seconds', 'Delay of the event loop since the last scrape, 99th percentile.', registers, () => {
    const p99 = delay.percentile(99) / 1e9
    delay.reset()
    return p99
  })
  return delay
}

function watchTotal(name: string, help: string, registers: Registry[], read: () => number): void {
  new Counter({
    name,
    help,
    registers,
    collect() {
      this.reset()
      this.inc(read())
    }
  })
}

function watchNow(name: string, help: string, registers: Registry[], read: () => number): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.set(read())
    }
  })
}
