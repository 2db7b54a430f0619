import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { openHome } from '../../../lib/wrapper/credentials.ts'
import { type Phone, startPhone } from './phone.ts'
import { runWrapper } from './wrapper.ts'

/** A computer that was linked to the account of a phone, through `afield login`. */
export async function linkedComputer(t: Pick<Test, 'teardown'>, server: { url: string }): Promise<{ phone: Phone; home: string }> {
  const phone = await startPhone(t, server)
  // A second `t.testdir()` would take away the first, which may be the server's.
  const folder = mkdtempSync(join(tmpdir(), 'afield-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const home = join(folder, 'home')
  const login = runWrapper(t, { home, args: ['login', '--server', server.url] })
  const [link] = await login.says(/http\S+\/terminal\/connect#key=\S+/)
  await login.says(/Waiting/)
  await phone.pair(link)
  if ((await login.ended) !== 0) throw new Error(login.output)
  return { phone, home: openHome({ AFIELD_HOME: home }).path }
}
