/** Every screen of the app. `view` of a session is the path after its id, such as `['changes', 'src', 'a.ts']`; the session screen reads it. */
export type Route =
  | { name: 'home' }
  | { name: 'needs-you'; request?: string }
  | { name: 'session'; id: string; view: readonly string[] }
  | ({ name: 'new' } & NewAt)
  /** `q`: the query; `in`: only in this session. */
  | { name: 'search'; q?: string; in?: string }
  | { name: 'archive' }
  | { name: 'machines' }
  | { name: 'machine'; id: string }
  | { name: 'welcome' }
  | { name: 'start' }
  | { name: 'start-key' }
  | { name: 'start-check' }
  | { name: 'restore' }
  | { name: 'link' }
  | { name: 'scan' }
  | { name: 'pair' }
  /** `item`: one entry of the list on the page. */
  | { name: 'settings'; page?: SettingsPage; item?: string }
  | { name: 'unknown'; path: string }

export type SettingsPage =
  | 'devices'
  | 'people'
  | 'access'
  | 'appearance'
  | 'language'
  | 'account-key'
  | 'lock'
  | 'notifications'
  | 'quiet'
  | 'storage'
  | 'rules'
  | 'about'

/** Where to start a new session, as far as decided. */
export interface NewAt {
  machine?: string
  folder?: string
  /** The first message, for the person to review. */
  prompt?: string
}

/** The route for a path and query, without the fragment. */
export function readPath(path: string, query = ''): Route {
  const segments = path.split('/').filter(segment => segment !== '')
  const [first, ...rest] = segments.map(decoded)
  if (first === undefined) return { name: 'home' }
  if (first === 's' && rest[0] !== undefined) return { name: 'session', id: rest[0], view: rest.slice(1) }
  if (first === 'terminal' && rest[0] === 'connect') return { name: 'pair' }
  if (first === 'needs-you') return rest[0] === undefined ? { name: 'needs-you' } : { name: 'needs-you', request: rest[0] }
  if (first === 'machines') return rest[0] === undefined ? { name: 'machines' } : { name: 'machine', id: rest[0] }
  if (first === 'settings') return readSettingsPath(rest, path)
  if (first === 'new' && rest[0] === undefined) return { name: 'new', ...readNewAt(new URLSearchParams(query)) }
  if (first === 'search' && rest[0] === undefined) return { name: 'search', ...readSearchAt(new URLSearchParams(query)) }
  const plain = plainPaths.find(name => pathOfPlain[name] === `/${[first, ...rest].join('/')}`)
  return plain === undefined ? { name: 'unknown', path } : { name: plain }
}

/** The path of a route: what `readPath` reads back. */
export function pathOf(route: Route): string {
  switch (route.name) {
    case 'home':
      return '/'
    case 'needs-you':
      return route.request === undefined ? '/needs-you' : `/needs-you/${encoded(route.request)}`
    case 'session':
      return `/s/${[route.id, ...route.view].map(encoded).join('/')}`
    case 'machine':
      return `/machines/${encoded(route.id)}`
    case 'settings':
      return ['/settings', route.page, route.item && encoded(route.item)].filter(part => part !== undefined).join('/')
    case 'new':
      return `/new${writeQuery({ machine: route.machine, folder: route.folder, prompt: route.prompt })}`
    case 'search':
      return `/search${writeQuery({ q: route.q, in: route.in })}`
    case 'unknown':
      return route.path
    default:
      return pathOfPlain[route.name]
  }
}

/** The target of Back if there is no history. */
export function parentOf(route: Route): Route {
  switch (route.name) {
    case 'session':
      return route.view.length > 0 ? { name: 'session', id: route.id, view: [] } : { name: 'home' }
    case 'machine':
      return { name: 'machines' }
    case 'settings':
      if (route.page === undefined) return { name: 'home' }
      if (route.page === 'quiet') return { name: 'settings', page: 'notifications' }
      return route.item === undefined ? { name: 'settings' } : { name: 'settings', page: route.page }
    case 'start':
    case 'restore':
    case 'link':
      return { name: 'welcome' }
    case 'start-check':
      return { name: 'start-key' }
    default:
      return { name: 'home' }
  }
}

const pathOfPlain = {
  archive: '/archive',
  machines: '/machines',
  welcome: '/welcome',
  start: '/start',
  'start-key': '/start/key',
  'start-check': '/start/check',
  restore: '/restore',
  link: '/link',
  scan: '/scan',
  pair: '/pair'
} as const

const plainPaths = Object.keys(pathOfPlain) as (keyof typeof pathOfPlain)[]
const settingsPages: readonly SettingsPage[] = [
  'devices',
  'people',
  'access',
  'appearance',
  'language',
  'account-key',
  'lock',
  'notifications',
  'quiet',
  'storage',
  'rules',
  'about'
]

function readNewAt(query: URLSearchParams): NewAt {
  const machine = query.get('machine')
  const folder = query.get('folder')
  // Another app may share a text, an address, or an address within the text.
  const prompt = query.get('prompt')
  const url = query.get('url')
  const shared = url === null || prompt?.includes(url) ? prompt : [prompt, url].filter(Boolean).join('\n')
  return { ...(machine !== null && { machine }), ...(folder !== null && { folder }), ...(shared !== null && { prompt: shared }) }
}

function readSearchAt(query: URLSearchParams): { q?: string; in?: string } {
  const q = query.get('q')
  const session = query.get('in')
  return { ...(q !== null && { q }), ...(session !== null && { in: session }) }
}

// A file name may contain anything, even half a surrogate pair, which cannot be encoded in an address as it is.
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function writeQuery(said: Record<string, string | undefined>): string {
  const known = Object.entries(said).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const query = new URLSearchParams(known).toString()
  return query === '' ? '' : `?${query}`
}

function readSettingsPath([page, item, ...more]: readonly string[], path: string): Route {
  if (page === undefined) return { name: 'settings' }
  const known = settingsPages.find(name => name === page)
  const hasItems = known === 'rules' || known === 'devices' || known === 'notifications'
  if (known === undefined || more.length > 0 || (item !== undefined && !hasItems)) return { name: 'unknown', path }
  return item === undefined ? { name: 'settings', page: known } : { name: 'settings', page: known, item }
}

// A stray percent sign must not crash the app.
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
