/** Every place in the app. `view` of a session is what follows its id, such as `['changes', 'src', 'a.ts']`; the session screen reads it. */
export type Route =
  | { name: 'home' }
  | { name: 'needs-you'; request?: string }
  | { name: 'session'; id: string; view: readonly string[] }
  | ({ name: 'new' } & NewAt)
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
  | { name: 'settings'; page?: SettingsPage }
  | { name: 'unknown'; path: string }

export type SettingsPage = 'devices' | 'people' | 'access' | 'appearance' | 'account-key' | 'about'

/** Where a new session shall begin, as far as that is decided. */
export interface NewAt {
  machine?: string
  folder?: string
}

/** The route of a path and its query, without the fragment. */
export function readPath(path: string, query = ''): Route {
  const segments = path.split('/').filter(segment => segment !== '')
  const [first, ...rest] = segments.map(decoded)
  if (first === undefined) return { name: 'home' }
  if (first === 's' && rest[0] !== undefined) return { name: 'session', id: rest[0], view: rest.slice(1) }
  if (first === 'terminal' && rest[0] === 'connect') return { name: 'pair' }
  if (first === 'needs-you') return rest[0] === undefined ? { name: 'needs-you' } : { name: 'needs-you', request: rest[0] }
  if (first === 'machines') return rest[0] === undefined ? { name: 'machines' } : { name: 'machine', id: rest[0] }
  if (first === 'settings') return readSettingsPath(rest[0], path)
  if (first === 'new' && rest[0] === undefined) return { name: 'new', ...readNewAt(new URLSearchParams(query)) }
  const plain = plainPaths.find(name => pathOfPlain[name] === `/${[first, ...rest].join('/')}`)
  return plain === undefined ? { name: 'unknown', path } : { name: plain }
}

/** The path of a route: what `readPath` reads back. */
export function pathOf(route: Route): string {
  switch (route.name) {
    case 'home':
      return '/'
    case 'needs-you':
      return route.request === undefined ? '/needs-you' : `/needs-you/${encodeURIComponent(route.request)}`
    case 'session':
      return `/s/${[route.id, ...route.view].map(encodeURIComponent).join('/')}`
    case 'machine':
      return `/machines/${encodeURIComponent(route.id)}`
    case 'settings':
      return route.page === undefined ? '/settings' : `/settings/${route.page}`
    case 'new':
      return `/new${writeNewAt(route)}`
    case 'unknown':
      return route.path
    default:
      return pathOfPlain[route.name]
  }
}

/** Where "back" leads when there is nothing to go back to. */
export function parentOf(route: Route): Route {
  switch (route.name) {
    case 'session':
      return route.view.length > 0 ? { name: 'session', id: route.id, view: [] } : { name: 'home' }
    case 'machine':
      return { name: 'machines' }
    case 'settings':
      return route.page === undefined ? { name: 'home' } : { name: 'settings' }
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
const settingsPages: readonly SettingsPage[] = ['devices', 'people', 'access', 'appearance', 'account-key', 'about']

function readNewAt(query: URLSearchParams): NewAt {
  const machine = query.get('machine')
  const folder = query.get('folder')
  return { ...(machine !== null && { machine }), ...(folder !== null && { folder }) }
}

function writeNewAt({ machine, folder }: NewAt): string {
  const query = new URLSearchParams({ ...(machine !== undefined && { machine }), ...(folder !== undefined && { folder }) }).toString()
  return query === '' ? '' : `?${query}`
}

function readSettingsPath(page: string | undefined, path: string): Route {
  if (page === undefined) return { name: 'settings' }
  const known = settingsPages.find(name => name === page)
  return known === undefined ? { name: 'unknown', path } : { name: 'settings', page: known }
}

// A stray percent sign must not take the app down.
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
