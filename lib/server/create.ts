import { randomBytes } from 'node:crypto'
import { type Clock, systemClock } from '../async/clock.ts'
import type { Bus } from '../bus/bus.ts'
import { openBus } from '../bus/open.ts'
import { cryptoReady } from '../crypto/sign.ts'
import { CannotStart, exitCodes } from '../exit.ts'
import { completeOptions, type GivenOptions, type ServerOptions } from '../options.ts'
import type { AccountId } from '../protocol/wire/ids.ts'
import { isPostgres, openStore } from '../store/open.ts'
import { defaultQuotas, noQuotas, type Quotas } from '../store/quotas.ts'
import { safekeepingOf } from '../store/safekeeping.ts'
import { type Store, StoreBroken, StoreBusy } from '../store/store.ts'
import { openSetupCode } from './actions/account/setup-code.ts'
import { SetupLock } from './actions/account/setup-lock.ts'
import type { SignupPolicy } from './actions/account/signup.ts'
import {
  approvedSignup,
  closedSignup,
  type DecideSignup,
  invitedSignup,
  openSignup,
  ownerFirst,
  ownSignup
} from './actions/account/signup-policies.ts'
import { createCalls } from './actions/calls/calls.ts'
import { notifyAccount } from './actions/notify/notify.ts'
import { createAuthenticator } from './actions/sign-in/authenticate.ts'
import { openIdentity } from './actions/sign-in/fresh-login.ts'
import { ownOrigins } from './actions/sign-in/origins.ts'
import { mostPairingMs } from './actions/sign-in/pairing-requests.ts'
import { readNetworks, readTrustedProxies } from './address.ts'
import { openBackups, type TakeBackup } from './chores/backups.ts'
import { claimFor } from './chores/claim.ts'
import { Deliveries } from './chores/deliveries.ts'
import { LeftoverSweep } from './chores/leftover-sweep.ts'
import { Maintenance } from './chores/maintenance.ts'
import { Presence } from './chores/presence.ts'
import { Retention } from './chores/retention.ts'
import { StoreTime, settledAfterMs, type Taken } from './chores/store-time.ts'
import { Closers } from './closers.ts'
import type { ControlDeps } from './control/command.ts'
import { openControl } from './control/socket.ts'
import { makeDataDirectory, openMode } from './data-directory.ts'
import { openEdge } from './edge/app.ts'
import { createHttpHandlers } from './edge/http/handlers.ts'
import { InFlight } from './edge/listen/in-flight.ts'
import { reachableUrls } from './edge/listen/reachable-urls.ts'
import type { Routes } from './edge/listen/routes.ts'
import { loadUws } from './edge/listen/uws.ts'
import { createEventHandlers } from './edge/socket/events.ts'
import type { Certificates } from './https/certificates.ts'
import { openHttps } from './https/https.ts'
import { ownCertificates } from './https/own-certificates.ts'
import { Hub } from './hub/hub.ts'
import { SocketSeats } from './hub/socket-seats.ts'
import { newId } from './ids.ts'
import { createLimits, mostSockets, unlimited } from './limits.ts'
import { customProvider, unknownProvider } from './push/custom-provider.ts'
import { expoPush } from './push/expo.ts'
import { ntfyPush } from './push/ntfy.ts'
import { type Outbound, openWithFirstRequest } from './push/outbound.ts'
import { freshVapidSecret, unifiedPush, type VapidKeys, vapidKeysOf, webPush } from './push/web-push.ts'
import { webhookPush } from './push/webhook.ts'
import type { Push, PushProvider } from './push.ts'
import { shareLimits } from './shared-limits.ts'
import { openTunnel, refuseMissingProgram } from './tunnel/tunnel.ts'
import type { Listeners } from './watch/events.ts'
import { listenersOf, watchRefusals } from './watch/listeners.ts'
import { type Logger, noteOf, openLogger } from './watch/log.ts'
import { uncounted } from './watch/metrics.ts'
import { openSecurityLog } from './watch/security-log.ts'
import { watchBus } from './watch/watched-bus.ts'
import { watchStore } from './watch/watched-store.ts'

/** How long running requests may take when the server closes. */
const drainWithinMs = 10_000

export interface Server {
  /** Where it listens, for example `http://127.0.0.1:3005` or `unix:/run/afield/afield.sock`; on an app that was passed in, as in the options. */
  url: string
  port: number
  /** Where phones reach it, if that is known: `publicUrl`, what `https` found, or the present address of the tunnel. */
  readonly publicUrl: string | undefined
  /** Resolves once the address of the tunnel is known or has not come in time; without a tunnel at once. */
  addressed: Promise<void>
  /** The code the first person needs to create an account; undefined once there is one, or when the policy asks for none. */
  setupCode: { code: string; file: string } | undefined
  /**
   * Settles when the store failed and the server can no longer keep its promises; close it and start it again.
   * The owner of a store that was passed in learns it from that store.
   */
  broken: Promise<Error>
  /** Finishes running requests, closes every connection and leaves nothing behind. */
  close(): Promise<void>
}

/** Policies that embedders can supply as functions. */
export interface Policy {
  /** In place of `signup`: called for each key without an account, once its signature was verified. */
  signup?: DecideSignup
  /** Quotas of an account that differ from the defaults. Called at every write, so it must be quick and not throw. */
  quotas?: (account: AccountId) => Partial<Quotas>
}

/** What an embedder can pass in besides options. */
export interface ServerExtras extends Partial<Listeners> {
  /** A store in place of a URL. Its owner closes it. */
  store?: string | Store
  /** A bus between the server's instances, in place of a URL. Its owner closes it. */
  bus?: string | Bus
  /**
   * An app of the same uWebSockets.js, to register the routes on. Its owner listens and closes; `host`, `port` and the TLS files
   * are not used. Once the server is closed its routes answer 503, since an app cannot lose a route.
   */
  app?: Routes
  /** Called for every unexpected error in addition to the log, with its request. */
  onError?: (error: unknown, at?: { requestId: string; route: string }) => void
  /** Where the server logs, such as a logger of pino's; otherwise lines of JSON on standard error. */
  logger?: Logger
  /** Delivers notifications in place of the providers of the options. */
  push?: Push
  /** Takes the backups of `backupEvery`; `afield serve` runs its own program for it. */
  takeBackup?: TakeBackup
  /** Makes the certificates of `https`; `afield serve` runs its own program for it, so that the code leaves no memory in use. */
  certificates?: Certificates
  /** Called with sentences for the operator: how HTTPS is set up, and what became of a certificate. */
  tell?: (sentences: string) => void
  /** Policies in place of the options. */
  policy?: Policy
  /** Monotonic, for waits and limits; the system's unless a test controls it. */
  clock?: Clock
  /** Wall clock in milliseconds since 1970, for stored and displayed times; the system's unless a test sets it. */
  now?: () => number
}

/** Everything a server can be created from: the options of `afield serve`, and the embedder's own objects. */
export type ServerSetup = Omit<GivenOptions, 'store' | 'bus'> & ServerExtras

/**
 * Starts a server: options, store, bus, hub, actions and edge. Resolves when it is running. Throws
 * CannotStart, in one sentence, when options, data directory, port or system do not allow it.
 */
export async function createServer(given: ServerSetup = {}): Promise<Server> {
  const { onError: tellError, onAudit, onEvent, app, logger, push: ownPush, policy, clock = systemClock, now = Date.now, ...rest } = given
  const { store: givenStore, bus: givenBus, takeBackup, certificates = ownCertificates, tell = () => {}, ...plain } = rest
  const asked = completeOptions({
    ...plain,
    ...(typeof givenStore === 'string' && { store: givenStore }),
    ...(typeof givenBus === 'string' && { bus: givenBus })
  })
  const isProxy = readTrustedProxies(trustedProxies(asked))
  const isLimited = asked.limits === 'default'
  const rates = isLimited ? createLimits({ clock }) : undefined
  const limits = rates ?? unlimited
  const usual = isLimited ? defaultQuotas : noQuotas
  const ownQuotas = policy?.quotas
  const quotas = (account: AccountId) => (ownQuotas ? { ...usual, ...ownQuotas(account) } : usual)
  const log = logger ?? openLogger(asked.logLevel)
  let isBroken = false
  const onError: typeof tellError & {} = (error, at) => {
    // It was logged when the store failed, and background jobs meet it again.
    if (isBroken && error instanceof StoreBroken) return
    log.error({ ...at, error: noteOf(error) }, 'Unexpected error')
    tellError?.(error, at)
  }
  const onStep = (byMs: number) =>
    log.warn(
      { byMs: Math.round(byMs) },
      'The clock was changed; expiry uses the old time until the new one has been stable for ten minutes'
    )
  await cryptoReady()
  // First: if something is missing, nothing is created.
  if (!app) loadUws()
  if (!app && asked.tunnel) refuseMissingProgram(asked.tunnel)
  makeDataDirectory(asked.data)

  const { promise: broken, resolve: onBroken } = Promise.withResolvers<Error>()
  const instance = newId()
  const counted = asked.metricsToken === undefined ? undefined : (await import('./watch/prometheus.ts')).createMetrics()
  const listeners = listenersOf({ onAudit, onEvent }, onError)
  const metrics = watchRefusals(counted ?? uncounted, listeners, now)
  const openOwnStore = () =>
    openStore(asked.store, {
      dataDirectory: asked.data,
      onBroken(reason) {
        isBroken = true
        log.error({ error: noteOf(reason) }, 'Storage failed')
        onBroken(reason)
      },
      clock: now,
      onMigrated: steps =>
        log.info(steps, `Upgraded the database schema${isPostgres(asked.store) ? '' : '; the old database is kept beside it'}`),
      ...(counted && { onCommit: counted.committed })
    })
  const closers = new Closers(clock)
  closers.add(() => counted?.close())
  let closeEdge = () => {}
  closers.add(() => closeEdge())

  try {
    const keptIn = typeof givenStore === 'object' ? givenStore : await openOwnStore()
    // An object that was passed in is closed by its owner.
    if (keptIn !== givenStore) closers.addWithoutDeadline(() => keptIn.close())
    // After the store, because that locks the data directory.
    const https = asked.https === 'auto' && !app ? await openHttps(asked, { certificates, clock, now, log, tell }) : undefined
    if (https) closers.add(() => https.close())
    const options = { ...asked, ...https?.options }
    const publicAddress = { url: options.publicUrl === undefined ? undefined : new URL(options.publicUrl) }
    const securityLog = asked.securityLog === undefined ? undefined : openSecurityLog(asked.securityLog, { clock, now, log })
    closers.add(async () => securityLog?.close())
    const store = listeners ? watchStore(keptIn, listeners, now) : keptIn
    const openedBus = typeof givenBus === 'object' ? givenBus : await openBus(options.bus, { onError, store: options.store })
    if (openedBus !== givenBus) closers.add(() => openedBus.close())
    const bus = counted ? watchBus(openedBus, counted) : openedBus
    const claim = claimFor({ store }, instance)
    // Every instance takes the same step at about the same time, and one of them moves what waits.
    const onTaken: Taken = async step => {
      if (await claim('move-pairings', settledAfterMs)) await store.movePairings({ ...step, mostMs: mostPairingMs })
    }
    const storeTime = await StoreTime.open({ store, clock, onStep, onTaken })
    closers.add(() => storeTime.close())
    const time = storeTime.now
    const mayRemove = storeTime.isBelieved
    const hasOwner = (await store.hasAccounts()) || policy?.signup || options.signup === 'open' || options.signup === 'closed'
    const setup = hasOwner ? undefined : await openSetupCode({ store }, options.data)
    const others = policy?.signup ? ownSignup({ store, time }, policy.signup) : signupPolicies[options.signup]({ store, time })
    let signup = others
    if (setup) {
      const lock = new SetupLock({ bus, clock, time }, instance)
      closers.add(() => lock.close())
      await lock.open()
      signup = ownerFirst({ store, setupCode: setup.code, onOwner: () => void setup.discard().catch(onError), lock }, others)
    }
    const needsSetupCode = async () => setup !== undefined && !(await store.hasAccounts())
    if (rates && bus.isShared) {
      const sharing = await shareLimits({ bus, clock, time, onError }, rates, instance)
      closers.add(() => sharing.close())
    }
    const seats = new SocketSeats({ bus, clock, onError }, instance, isLimited ? mostSockets : Number.POSITIVE_INFINITY)
    closers.add(() => seats.close())
    await seats.open()
    const onMissed = () => hub.reconnectAll()
    const authenticator = await createAuthenticator({ store, bus, time, clock, limits, log, mayRemove, onMissed }, onError)
    closers.add(() => authenticator.close())
    const identity = await openIdentity({ store, time, before: storeTime.before }, randomBytes(32), ownOrigins(publicAddress))
    const hub = await Hub.open({ bus, store, clock, newId, now, onError }, instance)
    closers.add(() => hub.close())
    const onDropped = (account: AccountId) => void notifyAccount(deps, account, 'machine').catch(onError)
    const presence = new Presence(
      { store, bus, now, time, clock, claim, isElsewhere: (account, row) => hub.isElsewhere(account, row), onDropped },
      { idleAfterMs: options.idleAfterMs }
    )
    closers.add(() => presence.close())
    const leftoverSweep = new LeftoverSweep({ store, time, clock, claim, mayRemove, onError })
    closers.add(() => leftoverSweep.close())
    if (options.keepSessionsDays !== undefined) {
      const retention = new Retention(
        { store, bus, now, time, clock, claim, presence, leftoverSweep, log, mayRemove, onError },
        { keepSessionsDays: options.keepSessionsDays }
      )
      closers.add(() => retention.close())
    }
    const calls = await createCalls({ bus, clock, newId, metrics, onError }, instance)
    closers.add(() => calls.close())
    counted?.gauge({ connections: () => hub.connections(), framesSent: () => hub.framesSent, gapsFilled: () => hub.gapsFilled })

    const vapid = vapidKeysOf(await store.keepSecret('vapid', freshVapidSecret()))
    let ownPort = options.port
    const destinations = { allowed: readNetworks(options.pushAllow, '--push-allow'), ownPort: () => ownPort }
    const outbound = openWithFirstRequest(async () => (await import('./push/guarded-outbound.ts')).openOutbound(destinations, { now }))
    closers.add(() => outbound.close())
    const providers = ownPush ? [customProvider(ownPush, onError)] : providersOf(options, { outbound, vapid, now })
    const isWatched = (account: AccountId) => hub.isWatched(account)
    const deliveries = new Deliveries({ store, providers, isWatched, clock, time, claim, mayRemove, metrics, onError })
    closers.add(() => deliveries.close())
    const kinds = providers.map(({ kind }) => kind)
    counted?.watchQueue({ kinds, nextDueAt: kind => store.nextDelivery(kind), now: time })
    const deps = {
      store,
      bus,
      now,
      time,
      clock,
      newId,
      presence,
      leftoverSweep,
      calls,
      hub,
      signup,
      limits,
      quotas,
      isProxy,
      seats,
      authenticator,
      identity,
      log,
      metrics,
      securityLog,
      deliveries,
      providers,
      pushKey: vapid.publicKey,
      pushTitles: options.pushTitles,
      legacyPairing: options.legacyPairing,
      keepSessionsDays: options.keepSessionsDays,
      onError
    }
    const { safekeeping } = store
    if (safekeeping) {
      const maintenance = new Maintenance({ store: safekeeping, clock, now, log })
      closers.add(() => maintenance.close())
      counted?.watchRows({ soundness: () => safekeeping.soundness(), now })
    } else if (options.backupEvery !== undefined) safekeepingOf(store)
    const backups = openBackups(options, { clock, now, log, take: takeBackup })
    closers.add(async () => backups?.close())
    if (backups) counted?.watchBackups(() => backups.state())
    const serving: ControlDeps['serving'] & {} = { signup: policy?.signup ? 'own' : options.signup }
    const control = await openControl({ ...deps, options, backups, serving })
    closers.add(() => control.close())
    const inFlight = new InFlight()
    const handlers = inFlight.watch(createHttpHandlers(deps))
    const edge = await openEdge(options, {
      ...deps,
      app,
      publicAddress,
      inFlight,
      handlers,
      events: createEventHandlers({ ...deps, isLimited, inFlight }),
      newRequestId: requestIds(instance),
      isServing: () => !inFlight.isClosing,
      backups,
      needsSetupCode,
      acceptsAccounts: async () => policy?.signup !== undefined || !closed.has(options.signup) || (await needsSetupCode()),
      async health() {
        if (inFlight.isClosing) return 'draining'
        if (isBroken || !(await isReadable(store))) return 'storage-failed'
        return safekeeping?.soundness().isFull ? 'storage-full' : 'ok'
      },
      scrape: counted && options.metricsToken !== undefined ? { token: options.metricsToken, text: counted.text } : undefined
    })
    closeEdge = edge.close
    ownPort = edge.port
    serving.url = options.publicUrl ?? reachableUrls(edge.url)[0]
    log.info({ port: edge.port }, 'Serving')
    https?.start()
    let addressed = Promise.resolve()
    if (options.tunnel && !app) {
      const onAddress = (url: string) => {
        publicAddress.url = new URL(url)
        serving.url = url
      }
      const tunnel = await openTunnel(options.tunnel, { port: edge.port, clock, log, tell, onAddress })
      closers.add(() => tunnel.close())
      addressed = tunnel.addressed
    }
    const mode = openMode(options.data)
    if (mode !== undefined) log.warn({ mode }, 'Other users of this computer can enter the data directory; fix it with chmod 700')

    const close = async () => {
      inFlight.isClosing = true
      log.info({}, 'Finishing running requests')
      edge.stopListening()
      calls.end()
      await inFlight.settled(drainWithinMs, clock)
      hub.closeConnections()
      await closers.close()
      log.info({}, 'Closed')
    }
    let closing: Promise<void> | undefined

    return {
      url: edge.url,
      port: edge.port,
      get publicUrl() {
        return publicAddress.url?.origin
      },
      addressed,
      setupCode: setup,
      broken,
      close() {
        closing ??= close()
        return closing
      }
    }
  } catch (error) {
    // Report the error that prevented the start.
    await closers.close().catch(onError)
    throw error instanceof StoreBusy ? lostAtStart(error) : error
  }
}

/** It could be opened, and was away a moment later: the next start may succeed. */
function lostAtStart(cause: StoreBusy): CannotStart {
  return new CannotStart('The database was lost while the server started; start again soon.', exitCodes.storage, { cause })
}

/** Of a tunnel and of a Unix socket, every client comes from a program of this computer that says where it is. */
function trustedProxies({ trustProxy, tunnel, socket }: ServerOptions): string | undefined {
  const own = tunnel !== undefined || socket !== undefined ? 'loopback' : undefined
  return trustProxy !== undefined && own !== undefined ? `${trustProxy},${own}` : (trustProxy ?? own)
}

/** After the first account, nobody can create one. */
const closed: ReadonlySet<ServerOptions['signup']> = new Set(['owner', 'closed'])

const signupPolicies: Record<ServerOptions['signup'], (deps: { store: Store; time: () => number }) => SignupPolicy> = {
  owner: closedSignup,
  approve: approvedSignup,
  invite: invitedSignup,
  open: openSignup,
  closed: closedSignup
}

/** Providers by token prefix; the last one accepts every other token. */
function providersOf(
  { expoUrl, expoToken, pushContact, publicUrl }: ServerOptions,
  { outbound, vapid, now }: { outbound: Outbound; vapid: VapidKeys; now: () => number }
): PushProvider[] {
  const contact = pushContact ?? (publicUrl?.startsWith('https:') ? publicUrl : 'mailto:operator@afield.invalid')
  return [
    ...(expoUrl === 'off' ? [] : [expoPush(expoUrl, expoToken)]),
    webPush(outbound, { vapid, contact }),
    unifiedPush(outbound, { vapid, contact }),
    ntfyPush(outbound),
    webhookPush(outbound, now),
    unknownProvider
  ]
}

async function isReadable(store: Pick<Store, 'hasAccounts'>): Promise<boolean> {
  return store.hasAccounts().then(
    () => true,
    () => false
  )
}

function requestIds(instance: string): () => string {
  let made = 0
  return () => {
    made += 1
    return `${instance.slice(0, 8)}-${made.toString(36)}`
  }
}
