import type { PairingView, ReadyToLink } from '../../../../web/join/pairing.ts'
import { emptyHome } from '../../../../web/model/store.ts'
import { isWide } from '../../../../web/ui/behavior/width.ts'
import type { AppStory } from './app-story.ts'
import { at } from './at.ts'
import { conversations } from './conversation.ts'
import { notifications } from './notifications.ts'
import { limitedStorage, machine, server, twoOfOneName } from './responses.ts'
import {
  archived,
  buildAsk,
  editAsk,
  hiddenAsk,
  homeOf,
  idle,
  limited,
  machines,
  moving,
  plainAsk,
  resting,
  sealedAsk,
  session,
  stopped,
  studio,
  thinkpad
} from './world.ts'

const riskyLock = { 'afield-lock': '{"choice":"risky","id":"AAAA"}' }
const nobody = homeOf([], [])
const quiet = homeOf(machines, [...resting, idle, ...archived])
const none = (path: string, given: Partial<AppStory> = {}): AppStory => at(path, { account: 'none', home: emptyHome, ...given })
const away = { link: { isOnline: false, socket: 'none', feed: 'away' } } as const
const manyAsk = Array.from({ length: 7 }, (_, index) =>
  session({ title: `Upgrade package ${index + 1}`, ago: index, line: 'Upgrading', agentState: plainAsk.agentState ?? null })
)

const unsent: AppStory['unsent'] = {
  texts: [
    { session: moving[0]?.id ?? '', text: 'Also keep the old path for a month, and say so in the changelog.' },
    { session: moving[0]?.id ?? '', text: 'Then run the tests.' }
  ],
  starts: [
    {
      key: 'k1',
      kind: 'start',
      machine: studio.id,
      agent: 'Claude Code',
      asked: { agent: 'claude', folder: '/home/mira/orchard-web', mode: 'default', mayMakeFolder: false },
      text: 'Update the lock file.',
      at: Date.now(),
      state: { type: 'queued' }
    }
  ]
}

/** On a desktop, a card is only a link to its session. */
const allow = isWide.peek() ? [] : ['Allow once']

const atTerminal = session({ title: 'Keep the old paths', ago: 4, line: 'npm run watch', agentState: { controlledByUser: true } })

const ofUnlinked = session({
  title: 'Tidy the build scripts',
  on: thinkpad,
  isActive: false,
  ago: 95,
  line: 'Both scripts are one now.',
  metadata: { lifecycleState: 'running' }
})

const homes = {
  home: at('/'),
  'home-plain': at('/', { home: homeOf(machines, [plainAsk, ...moving, ...resting]) }),
  'home-allow': at('/', { home: homeOf(machines, [buildAsk, editAsk, ...moving, ...resting]) }),
  'home-allow-hidden': at('/', { home: homeOf(machines, [buildAsk, hiddenAsk, ...moving]) }),
  'session-unlinked': at(`/s/${ofUnlinked.id}`, { home: homeOf([studio], [ofUnlinked, ...moving]) }),
  'home-unlinked': at('/', { home: homeOf([studio], [ofUnlinked, ...moving]) }),
  'session-limit': at(`/s/${limited.id}`, { home: homeOf(machines, [limited, ...moving]) }),
  'home-sealed-state': at('/', { home: homeOf(machines, [sealedAsk, ...moving]) }),
  'home-allow-offline': at('/', { home: homeOf(machines, [buildAsk, ...moving]), ...away }),
  'home-allowed': at('/', { home: homeOf(machines, [buildAsk, ...moving, ...resting]), press: allow }),
  'home-allow-failed': at('/', {
    home: homeOf(machines, [buildAsk, ...moving, ...resting]),
    answered: { type: 'failed', why: 'away', says: '' },
    press: allow
  }),
  'home-working': at('/', { home: homeOf([studio], [...moving, ...resting]) }),
  'home-quiet': at('/', { home: quiet }),
  'home-many': at('/', { home: homeOf(machines, [...manyAsk, ...moving]) }),
  'home-by-folder': at('/', { kept: { 'afield-byFolder': 'true' } }),
  'home-no-machine': at('/', { home: nobody }),
  'home-key-unchecked': at('/', { home: quiet, isKeyChecked: false }),
  'home-key-unchecked-busy': at('/', { isKeyChecked: false }),
  'home-no-session': at('/', { home: homeOf([studio], []) }),
  'home-first-time': at('/', { home: emptyHome, link: { feed: 'catching-up' } }),
  'home-offline': at('/', away),
  'home-waiting-offline': at('/', { home: homeOf(machines, [buildAsk, ...resting]), ...away }),
  'home-offline-working': at('/', { home: homeOf([studio], [...moving, ...resting]), ...away }),
  'home-offline-quiet': at('/', { home: quiet, ...away }),
  'home-silent': at('/', { link: { socket: 'down', feed: 'away', nextTryAt: Date.now() + 8000 } }),
  'home-catching-up': at('/', { link: { feed: 'catching-up' } }),
  leaving: at('/', { ...away, unsent }),
  'leaving-edit': at('/', { ...away, unsent, press: ['Edit'] }),
  'catching-up-count': at('/', { link: { feed: 'catching-up' }, progress: { done: 212, all: 340 } }),
  'home-ended': at('/', { isEnded: true }),
  'home-server-full': at('/', { full: 'server' }),
  // What is stored later would show that there is space again.
  'home-device-full': at('/', { full: 'device', server: {} }),
  'home-clock-off': at('/', { clockOffMs: 12 * 60_000 }),
  'needs-you': at('/needs-you'),
  'needs-you-none': at('/needs-you', { home: quiet }),
  palette: at('/', { press: ['ctrl k'] }),
  keys: at('/', { press: ['?'] })
}

const lists = {
  search: at('/search?q=return'),
  'search-empty': at('/search'),
  'search-nothing': at('/search?q=zebra'),
  archive: at('/archive'),
  'archive-none': at('/archive', { home: homeOf(machines, moving) })
}

const news = {
  new: at('/new?prompt=The+upload+test+fails+about+one+run+in+ten+on+CI.+Find+the+race+and+fix+it.'),
  'take-over': at(`/s/${atTerminal.id}`, {
    home: homeOf(machines, [atTerminal, ...moving]),
    machine: {
      ...machine,
      processes: {
        processes: [
          {
            id: '7',
            pid: 7,
            startedAt: Date.now(),
            memoryBytes: 5e8,
            memoryIs: 'share',
            processes: 6,
            isLeftOver: false,
            title: 'Claude Code',
            session: atTerminal.id,
            inShells: ['npm run watch', 'node scripts/serve.js --port 8080']
          }
        ]
      }
    },
    press: ['Take over', 'see Something is still running there']
  }),
  'new-more': at('/new', { press: ['see Ask first', 'More'] }),
  'new-starting': at('/new', {
    machine: {
      ...machine,
      'start-log': { lines: ['Starting Claude Code …', 'npm warn deprecated tar@6.2.1', 'Reading its conversation …'] }
    },
    press: ['Start on', 'see Reading its conversation']
  }),
  'new-starting-low-data': at('/new', { kept: { 'afield-lowData': 'true' }, press: ['Start on', 'see Show output'] }),
  'new-answered': at('/new', {
    machine: { ...machine, 'spawn-happy-session': { type: 'success', sessionId: moving[0]?.id ?? '' } },
    press: ['see Ask first']
  }),
  'new-missing-folder': at('/new', {
    machine: {
      ...machine,
      'spawn-happy-session': { type: 'requestToApproveDirectoryCreation', directory: '/home/mira/work/orchard-api' }
    },
    press: ['Start on', 'see Create and start']
  }),
  'new-refused': at('/new', {
    machine: { ...machine, 'spawn-happy-session': { error: 'Claude Code is not signed in.' } },
    press: ['Start on', 'see not signed in']
  }),
  'new-folder': at('/new', { press: ['orchard-api'] }),
  'new-histories': at('/new', { press: ['Continue'] }),
  'new-lock-refused': at('/new', {
    press: ['Full auto', 'Start in Full auto'],
    kept: { 'afield-lock': '{"choice":"risky","id":"AAAA"}' }
  }),
  'new-waiting': at('/new', { machine: {} }),
  'new-not-answered': at('/new', { machine: { choices: 'away' } }),
  'new-daemon-dead': at('/new', { machine: { choices: 'gone' } }),
  'new-asleep': at('/new', { home: homeOf([{ ...thinkpad, daemonState: { status: 'stopped' } }], []) }),
  'new-away': at('/new', { home: homeOf([thinkpad], []) }),
  'new-daemon-gone': at('/new', { home: homeOf([{ ...studio, isActive: false }], moving) }),
  'new-no-agent': at('/new', { machine: { ...machine, choices: { agents: [], recentFolders: [], home: '/home/mira' } } }),
  'new-no-machine': at('/new', { home: nobody })
}

const machinesStories = {
  machines: at('/machines'),
  'machines-none': at('/machines', { home: nobody }),
  machine: at('/machines/m1'),
  'machine-away': at('/machines/m3'),
  'machine-stopped': at('/machines/m3', { home: homeOf([stopped], []) }),
  'machine-waiting': at('/machines/m1', { machine: {} }),
  'machine-not-answered': at('/machines/m1', { machine: { processes: 'away', worktrees: 'away', choices: 'away', 'keep-awake': 'away' } }),
  'machine-gone': at('/machines/m9'),
  'machine-end': at('/machines/m1', { press: ['End npm'] }),
  'machine-log': at('/machines/m1', { press: ['Log'] }),
  'machine-log-waiting': at('/machines/m1', { machine: { ...machine, log: undefined }, press: ['Log'] }),
  'machine-log-back': at('/machines/m1', { machine: { ...machine, log: 'away' }, later: machine, press: ['Log'] }),
  'machine-update': at('/machines/m1', { press: ['Update'] }),
  'machine-stop': at('/machines/m1', { press: ['Stop daemon'] }),
  'machine-unlink': at('/machines/m1', { press: ['Unlink'] }),
  'machine-unlink-which': at('/machines/m1', { server: { ...server, listDevices: twoOfOneName }, press: ['Unlink'] }),
  'machine-unlink-failed': at('/machines/m1', { server: { ...server, listDevices: 400 }, press: ['Unlink'] })
}

const ready = (given: Partial<ReadyToLink> = {}): ReadyToLink => ({
  type: 'ready',
  isDevice: false,
  getsAll: false,
  asker: { name: 'studio-mini', from: '192.0.2', about: { os: 'macOS', user: 'mira' } },
  endsAt: Date.now() + 252_000,
  answer: async () => ({ type: 'wrong-code' }),
  refuse: async () => {},
  ...given
})
const pairing = (view: PairingView) => at('/pair#key=x', { pairing: view })

const linking = {
  scan: at('/scan'),
  'scan-foreign': at('/scan', { press: ['type https://example.net/start', 'Continue'] }),
  'scan-cut': at('/scan', { press: ['type https://home.example.org/terminal/connect#v2=t.0199c3ae', 'Continue'] }),
  'pair-machine': pairing(ready()),
  'pair-root': pairing(
    ready({
      asker: { name: 'build-box', from: '2001:0db8:00a1:4b', about: { os: 'Debian GNU/Linux 12 (bookworm)', user: 'root', isRoot: true } }
    })
  ),
  'pair-loopback': pairing(ready({ asker: { name: 'studio-mini', from: '127.0.0', about: undefined } })),
  'pair-no-code': pairing(ready({ asker: undefined })),
  'pair-device': pairing(
    ready({ isDevice: true, getsAll: true, asker: { name: 'Firefox on Android', from: '192.0.2', about: undefined } })
  ),
  'pair-device-locked': at('/pair#key=x', {
    pairing: ready({ isDevice: true, getsAll: true, asker: { name: 'Firefox on Android', from: '192.0.2', about: undefined } }),
    kept: riskyLock
  }),
  'pair-linked': pairing({ type: 'linked', isDevice: false, name: 'studio-mini' }),
  'pair-linked-new': pairing({ type: 'linked', isDevice: false, name: 'garden-shed' }),
  'pair-gone': pairing({ type: 'gone' }),
  'pair-answered': pairing({ type: 'answered' }),
  'pair-linked-before': pairing({ type: 'answered', name: 'studio-mini', isYours: true }),
  'pair-others': pairing({ type: 'answered', name: 'studio-mini', isYours: false }),
  'pair-refused': pairing({ type: 'refused' }),
  'pair-altered': pairing({ type: 'altered' }),
  'pair-no-link': at('/pair'),
  'pair-bad-link': pairing({ type: 'bad-link' }),
  'pair-other-server': pairing({ type: 'other-server', host: 'office.example.org', href: 'https://office.example.org/pair' }),
  'pair-unreachable': pairing({ type: 'unreachable' })
}

const first = {
  welcome: none('/'),
  'welcome-private': none('/', { account: 'private' }),
  'welcome-closed': none('/', { says: { acceptsAccounts: false } }),
  'welcome-to-pair': none('/pair#key=x'),
  create: none('/start'),
  'create-invited': none('/#invite=abcd'),
  'create-setup-code': none('/start', { signIn: { status: 403, error: 'setup-code-required' }, press: ['Create'] }),
  'create-wrong-code': none('/#setup=ABCD-EFGH', { signIn: { status: 403, error: 'setup-code-required' }, press: ['Create'] }),
  'create-closed': none('/start', { signIn: { status: 403, error: 'signup-closed' }, press: ['Create'] }),
  'create-pending': none('/start', { signIn: { status: 403, error: 'pending' }, press: ['Create'] }),
  'create-too-many-tries': none('/start', { signIn: { status: 429, error: 'locked' }, press: ['Create'] }),
  restore: none('/restore'),
  link: none('/link'),
  'link-for-happy': none('/link', { press: ['My other device has the Happy'] }),
  'link-trouble': none('/link', { request: 'trouble' }),
  'link-expired': none('/link', { request: 'expired' }),
  'link-unreadable': none('/link', { request: 'unreadable' }),
  'link-has-account': none('/link', { request: 'has-account' }),
  'link-unreachable': none('/link', { request: 'unreachable' }),
  key: at('/start/key', { isKeyChecked: false, isFirstRun: true }),
  'key-reminded': at('/start/key', { isKeyChecked: false }),
  'key-locked': at('/start/key', { isKeyChecked: false, kept: riskyLock }),
  check: at('/start/check', { isKeyChecked: false, isFirstRun: true }),
  'check-file': at('/start/check', { isKeyChecked: false, isKeyInFile: true }),
  'check-other-way': at('/start/check', { isKeyChecked: false, isKeyInFile: true, press: ['Check with three groups'] }),
  'key-file': at('/start/key', { isKeyChecked: false, press: ['Save file'] }),
  'key-file-plain': at('/start/key', { isKeyChecked: false, press: ['Save file', 'dialog Save file'] }),
  'lock-offer': at('/start/key', { isKeyChecked: false, isFirstRun: true, press: ['Later'] }),
  insecure: at('/', { account: 'insecure' }),
  'no-storage': at('/', { account: 'unkept' }),
  locked: at('/', { kept: { 'afield-lock': '{"choice":"open","id":"AAAA"}' } }),
  unknown: at('/nowhere'),
  'session-unknown': at('/s/nothing')
}

const settings = {
  settings: at('/settings'),
  'settings-unchecked': at('/settings', { isKeyChecked: false }),
  devices: at('/settings/devices'),
  device: at('/settings/devices/d2', { home: homeOf([studio], moving) }),
  'device-none': at('/settings/devices/d1', { machine: { decisions: { entries: [] } } }),
  'device-away': at('/settings/devices/d2', { machine: { decisions: 'away' } }),
  'devices-unlink': at('/settings/devices', { press: ['Unlink'] }),
  'devices-waiting': at('/settings/devices', { server: {} }),
  'devices-failed': at('/settings/devices', { server: { listDevices: 400 } }),
  people: at('/settings/people'),
  'people-none': at('/settings/people', { server: { listSignups: { signups: [] }, listInvites: { invites: [] } } }),
  'people-not-owner': at('/settings/people', { server: { listSignups: 403, listInvites: 403 } }),
  access: at('/settings/access'),
  'access-none': at('/settings/access', { server: { listTokens: { tokens: [] } } }),
  rules: at('/settings/rules'),
  'rules-none': at('/settings/rules', { machine: { rules: { rules: [], isPaused: false } } }),
  'rules-paused': at('/settings/rules', {
    machine: { rules: { rules: machine.rules && 'rules' in machine.rules ? machine.rules.rules : [], isPaused: true } }
  }),
  'rules-away': at('/settings/rules', { machine: { rules: 'away' } }),
  appearance: at('/settings/appearance'),
  language: at('/settings/language'),
  'account-key': at('/settings/account-key'),
  'account-key-shown': at('/settings/account-key', { press: ['Show the key'] }),
  lock: at('/settings/lock'),
  storage: at('/settings/storage'),
  'storage-limited': at('/settings/storage', { server: { readStorage: limitedStorage } }),
  'storage-untold': at('/settings/storage', { server: { readStorage: 404 } }),
  'storage-low-data': at('/settings/storage', { kept: { 'afield-lowData': 'true' } }),
  'storage-not-exported': at('/settings/storage', {
    unsent: { texts: [], starts: [] },
    server: { readMessages: 400 },
    press: ['Export everything']
  }),
  'storage-erase': at('/settings/storage', { press: ['Erase this device'] }),
  about: at('/settings/about')
}

/** Every screen of the app in every state worth showing, by name. */
export const appStories: Readonly<Record<string, AppStory>> = {
  ...first,
  ...homes,
  ...lists,
  ...news,
  ...machinesStories,
  ...linking,
  ...settings,
  ...notifications,
  ...conversations
}
