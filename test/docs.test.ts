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
