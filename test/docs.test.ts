import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { pages } from '../docs/pages.ts'
import { optionRows } from '../lib/options.ts'

const root = join(import.meta.dirname, '..')

for (const [path, text] of Object.entries(pages())) {
  t.test(`${path} says what the program does; after a change run: node build.mjs docs`, async t => {
    t.equal(readFileSync(join(root, path), 'utf8'), text)
  })
}

t.test('the name, flag and environment name of an option are the same words', async t => {
  for (const { name, flag, env } of optionRows()) {
    t.equal(
      flag,
      name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
    )
    t.equal(env, `AFIELD_${flag.toUpperCase().replaceAll('-', '_')}`)
  }
})

t.test('the versions of Node.js on the pages are those of package.json', async t => {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const [, least, tooNew] = /^>=(\d+\.\d+)\.0 <(\d+)$/.exec(engines.node) ?? []
  for (const path of ['README.md', 'CONTRIBUTING.md', 'docs/embedding.md']) {
    t.match(readFileSync(join(root, path), 'utf8'), `${least} to ${Number(tooNew) - 1}`, path)
  }
})

t.test('no page is linked, and no field listed, twice in a row of links or a table', async t => {
  const links = [...(readFileSync(join(root, 'README.md'), 'utf8').split('## More')[1] ?? '').matchAll(/\]\(([^)]+)\)/g)].map(
    ([, to]) => to
  )
  t.same(links, [...new Set(links)])
  const fields = [...readFileSync(join(root, 'docs/embedding.md'), 'utf8').matchAll(/^\| (`[^|]+) \|/gm)].map(([, field]) => field)
  t.same(fields, [...new Set(fields)])
  t.ok(links.length > 5 && fields.length > 5)
})

// systemd reads over a key that stands in another section, and would start the server again for ever.
t.test('what systemd is to know of restarts stands in the section where it looks', async t => {
  const [, unit] = /```ini\n(.*?)```/s.exec(readFileSync(join(root, 'docs/operations.md'), 'utf8')) ?? []
  t.match(unit, /^\[Unit\]\nStartLimitIntervalSec=\d+\nStartLimitBurst=\d+\n\n\[Service\]\nRestart=/)
})
