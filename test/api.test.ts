import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { apiPage } from '../docs/api.ts'

const page = apiPage()

t.test('docs/api.md has every public name as declared; after a change run: node build.mjs docs', async t => {
  t.equal(readFileSync(join(import.meta.dirname, '../docs/api.md'), 'utf8'), page)
})

t.test('the entry points for embedders are in it, with their comments', async t => {
  t.match(page, 'export declare function createServer(given?: ServerSetup): Promise<Server>;')
  t.match(page, /Resolves when it is running\.[^`]*createServer/)
  t.match(page, '#### openSocket')
})
