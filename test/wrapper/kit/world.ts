import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { openHome } from '../../../lib/wrapper/credentials.ts'
import { type Phone, startPhone } from './phone.ts'
import { runWrapper, type WrapperProcess } from './wrapper.ts'

/** A computer that was linked to the account of a phone, through `afield login`. */
export async function linkedComputer(t: Pick<Test, 'teardown'>, server: { url: string }): Promise<{ phone: Phone; home: string }> {
  const phone = await startPhone(t, server)
  // A second `t.testdir()` would take away the first, which may be the server's.
  const folder = mkdtempSync(join(tmpdir(), 'afield-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const home = join(folder, 'home')
  const login = runWrapper(t, { home, args: ['login', '--server', server.url] })
  const { link, checkCode } = await readCode(login)
  await phone.pair(link, checkCode)
  if ((await login.ended) !== 0) throw new Error(login.output)
  return { phone, home: openHome({ AFIELD_HOME: home }).path }
}

/** What a person sees of a computer that asks to be linked. */
export async function readCode(login: WrapperProcess): Promise<{ link: string; checkCode: string }> {
  const [link] = await login.says(/http\S+\/terminal\/connect#v2=\S+/)
  const [, checkCode = ''] = await login.says(/Check code (\d{4})/)
  return { link, checkCode }
}
