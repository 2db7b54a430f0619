import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Point } from '../docs/curves.ts'
import { drawings } from '../docs/drawings.ts'
import { pages } from '../docs/pages.ts'
import { optionRows } from '../lib/options.ts'
import { rooms } from './kit/arrows.ts'

const root = join(import.meta.dirname, '..')

for (const [path, text] of Object.entries(pages())) {
  t.test(`${path} matches the program; after a change run: node build.mjs docs`, async t => {
    t.equal(readFileSync(join(root, path), 'utf8'), text)
  })
}

t.test('a curve is drawn from the last figure of each size, in the order of the sizes', async t => {
  const machine = { cores: 2, memoryGb: 4, fileSystem: 'ext4', kernel: 'Linux', node: '24' }
  const curveOf = (...figures: [at: number, cost: number][]) => {
    const points = figures.map(([at, cost]): Point => ({ curve: 'size', line: 'afield', at, cost, date: '', commit: '', machine }))
    return drawings(points)['docs/images/cost-by-size.svg']
  }
  const drawn = curveOf([10, 20], [100, 40])
  t.equal(curveOf([100, 30], [10, 20], [100, 40]), drawn)
  t.not(curveOf([10, 20], [100, 30]), drawn)
})

t.test('the name, flag and environment name of an option use the same words', async t => {
  for (const { name, flag, env } of optionRows()) {
    t.equal(
      flag,
      name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
    )
    t.equal(env, `AFIELD_${flag.toUpperCase().replaceAll('-', '_')}`)
  }
})

t.test('the Node.js versions on the pages match package.json', async t => {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const [, least, tooNew] = /^>=(\d+\.\d+)\.0 <(\d+)$/.exec(engines.node) ?? []
  for (const path of ['README.md', 'CONTRIBUTING.md', 'docs/embedding.md']) {
    t.match(readFileSync(join(root, path), 'utf8'), `${least} to ${Number(tooNew) - 1}`, path)
  }
})

t.test('no list of links or table repeats a page or field', async t => {
  const links = [...(readFileSync(join(root, 'README.md'), 'utf8').split('## More')[1] ?? '').matchAll(/\]\(([^)]+)\)/g)].map(
    ([, to]) => to
  )
  t.same(links, [...new Set(links)])
  const fields = [...readFileSync(join(root, 'docs/embedding.md'), 'utf8').matchAll(/^\| (`[^|]+) \|/gm)].map(([, field]) => field)
  t.same(fields, [...new Set(fields)])
  t.ok(links.length > 5 && fields.length > 5)
})

t.test('every path that a page names exists', async t => {
  const paths = handWritten().flatMap(page => pathsIn(read(page)).map(path => ({ page, path })))
  t.ok(paths.length > 100, `${paths.length} paths`)
  t.same(
    paths.filter(({ path }) => !existsSync(join(root, path))).map(({ page, path }) => `${page}: ${path}`),
    []
  )
})

t.test('every stop of the walks in CONTRIBUTING is a file or a folder', async t => {
  const within: Record<string, string[]> = { server: ['lib/server', 'lib'], wrapper: ['lib/wrapper'], app: ['web', 'lib'] }
  const ways = [...read('CONTRIBUTING.md').matchAll(/^(server|wrapper|app) +(\S+ → .+)$/gm)]
  t.same(
    ways.map(([, part]) => part),
    Object.keys(within)
  )
  for (const [, part = '', way = ''] of ways) {
    const stops = way.split(' → ')
    t.ok(stops.length <= 6, `${part}: ${stops.length} stops`)
    // What is written with a space passes no file.
    for (const stop of stops.filter(stop => !stop.includes(' '))) {
      const places = (within[part] ?? []).flatMap(base => ['', '.ts', '.tsx'].map(end => `${base}/${stop}${end}`))
      t.ok(
        places.some(place => existsSync(join(root, place))),
        `${part}: ${stop}`
      )
    }
  }
})

t.test('every page and section that a page links to exists', async t => {
  for (const page of handWritten())
    for (const [, to = '', section] of read(page).matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)) {
      const target = to === '' ? page : join(page, '..', to)
      t.ok(existsSync(join(root, target)), `${page}: ${to}`)
      if (section) t.ok(sectionsOf(target).includes(section), `${page}: ${target}#${section}`)
    }
})

t.test('every message that the troubleshooting page quotes is one of the program or the app', async t => {
  const quotes = [...read('docs/troubleshooting.md').matchAll(/“([^”]+)”/g)].map(([, quote = '']) => quote)
  t.ok(quotes.length > 50, `${quotes.length} quotes`)
  const sources = ['lib', 'bin', 'sqlite', 'web']
    .flatMap(folder => readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(name => `${folder}/${name}`))
    .filter(path => /\.tsx?$/.test(path))
    .map(read)
  // What stands for a name, an address or a number is filled in by the program.
  const isSaid = (quote: string) => sources.some(source => isInOrder(quote.split('…'), source))
  t.same(
    quotes.filter(quote => !isSaid(quote)),
    []
  )
})

t.test('the architecture page has the folders of the arrows, with what each may import', async t => {
  const rows = [...read('docs/architecture.md').matchAll(/^\| `([^`]+)` \| [^|]+ \| (.+) \|$/gm)]
  const shown = Object.fromEntries(
    rows.map(([, folder = '', may = '']) => [folder, [...may.matchAll(/`([^`]+)`/g)].map(([, room]) => room)])
  )
  const folders = Object.values(rooms).filter(
    ({ files }) => files.length === 1 && files[0]?.endsWith('/') && existsSync(join(root, files[0]))
  )
  t.same(shown, Object.fromEntries(folders.map(({ files, rooms }) => [files[0], rooms])))
})

t.test('every decision note has its number, date and status, and three sections', async t => {
  const notes = readdirSync(join(root, 'docs/decisions'))
  t.ok(notes.length > 30, `${notes.length} notes`)
  notes.sort().forEach((name, index) => {
    const number = String(index + 1).padStart(4, '0')
    const text = read(`docs/decisions/${name}`)
    t.ok(name.startsWith(`${number}-`), `${name} is number ${number}`)
    t.match(text, new RegExp(`^# ${number}: .+\\n\\nDate: \\d{4}-\\d\\d-\\d\\d · Status: (accepted|superseded by \\d{4})\\n`), name)
    t.same(
      [...text.matchAll(/^## (.+)$/gm)].map(([, section]) => section),
      ['Context', 'Decision', 'Consequences'],
      name
    )
  })
})

// systemd reads over a key that stands in another section, and would start the server again for ever.
t.test('systemd restart settings are in the sections where systemd reads them', async t => {
  const [, unit] = /```ini\n(.*?)```/s.exec(readFileSync(join(root, 'docs/operations.md'), 'utf8')) ?? []
  t.match(unit, /^\[Unit\]\nStartLimitIntervalSec=\d+\nStartLimitBurst=\d+\n\n\[Service\]\nRestart=/)
})

/** As the hosts of repositories name them in addresses. */
function sectionsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
  )
}

function isInOrder(parts: readonly string[], text: string): boolean {
  let from = 0
  return parts.every(part => {
    const at = text.indexOf(part, from)
    from = at + part.length
    return at >= 0
  })
}

/** The pages that people write: the others are generated, or tell of the past. */
function handWritten(): string[] {
  const pagesIn = (folder: string) => readdirSync(join(root, folder)).map(name => `${folder}/${name}`)
  const all = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...pagesIn('docs'), ...pagesIn('docs/decisions')]
  return all.filter(path => path.endsWith('.md') && !(path in pages()))
}

/** Those in backticks that begin with a folder of ours; the others belong to another program, or are to be made. */
function pathsIn(text: string): string[] {
  return [...text.matchAll(/`((?:lib|bin|web|sqlite|test|docs|bench|examples)\/[\w./-]*)`/g)].map(([, path = '']) => path)
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}
