import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { formatBackupKey } from '../../lib/crypto/index.ts'
import type { DeviceLook, openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'
import { linkedComputer } from '../wrapper/kit/world.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'

export const callback = `import { redirect } from './http'

export async function handleCallback(req) {
  const state = await readState(req)
  return redirect('/home')
}
`

/** A device that shows a session of the demo agent in a repository with one commit. */
export async function openRepository(t: Test, devices: Awaited<ReturnType<typeof openDevices>>, look: DeviceLook = {}) {
  const server = await startServerProcess(t)
  const { phone, home } = await linkedComputer(t, server)
  const folder = join(home, '..', 'orchard')
  const env = { ...process.env, GIT_CONFIG_GLOBAL: join(home, '..', 'gitconfig'), GIT_CONFIG_NOSYSTEM: '1' }
  writeFileSync(env.GIT_CONFIG_GLOBAL, '[user]\n\tname = Mira\n\temail = mira@home.example\n')
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  write('src/callback.js', callback)
  write('README.md', '# Orchard\n')
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, env, encoding: 'utf8' })
  git('init', '--quiet', '--initial-branch=main')
  git('add', '.')
  git('commit', '--quiet', '-m', 'Plant the first trees')
  const wrapper = runWrapper(t, {
    home,
    args: ['demo', '--folder', folder],
    env: { GIT_CONFIG_GLOBAL: env.GIT_CONFIG_GLOBAL, GIT_CONFIG_NOSYSTEM: '1' }
  })
  const session = await phone.session()
  const lookOn = async (look: DeviceLook) => {
    const device = await devices.open(t, server.url, look)
    device.page.setDefaultTimeout(20_000)
    await device.visit('/restore')
    await device.write('Account key', formatBackupKey(phone.secret))
    await device.press('Restore')
    await device.see('Live')
    await device.visit(`/s/${session.id}`)
    return device
  }
  const device = await lookOn(look)
  await device.page.getByPlaceholder('Message Demo agent').waitFor()
  const to = (view: string) => device.visit(`/s/${session.id}/${view}`)
  return { device, lookOn, session, wrapper, folder, git, write, to, read: (path: string) => readFileSync(join(folder, path), 'utf8') }
}
