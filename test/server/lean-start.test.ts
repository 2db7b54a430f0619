import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'

t.test('a start loads no HTTP client, no metrics and no collation: they are for later, or for servers that ask for them', async t => {
  const program = `
    const { registerHooks } = await import('node:module')
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    String.prototype.localeCompare = () => loaded.push('collation')
    const { createServer } = await import('./lib/index.ts')
    const server = await createServer({ port: 0, data: process.env.DATA, logLevel: 'silent' })
    console.log(JSON.stringify(loaded.filter(name => /\\/(undici|prom-client|web-push)\\/|collation/.test(name))))
    await server.close()`
  const env = { ...process.env, DATA: t.testdir() }
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { env })
  t.same(JSON.parse(stdout), [])
})
