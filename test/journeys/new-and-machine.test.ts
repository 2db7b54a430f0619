import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { formatBackupKey } from '../../lib/crypto/index.ts'
import { findDaemon } from '../../lib/wrapper/daemon/single-daemon.ts'
import { nameOf } from '../../lib/wrapper/home/processes.ts'
import { type Device, openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'
import { fakeClaude, installFakeAdapter } from '../wrapper/kit/claude.ts'
import { linkedComputer } from '../wrapper/kit/world.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'

const devices = await openDevices(t)
const shots = process.env['SHOTS']

t.test(
  'a session works on a copy when the folder has uncommitted changes, which stay untouched, and the copy is removed afterwards',
  async t => {
    const { phone, home, code } = await phoneAndDaemon(t)
    const orchard = repository(join(code, 'orchard'))
    await chooseFolder(phone, orchard)
    await phone.page.getByText('Demo agent', { exact: true }).click()
    await phone.press(/^Start on /)
    await phone.page.getByPlaceholder('Message Demo agent').waitFor()

    writeFileSync(join(orchard, 'apples.txt'), 'red\nmine\n')
    writeFileSync(join(orchard, 'pears.txt'), 'mine\n')
    await phone.visit('/new?prompt=SCRIPT%3A%20text%20Planted.')
    await phone.see('Works on a copy, so your 2 changes stay untouched.')
    await phone.see(/on main · 2 changes/)
    t.equal(await phone.page.getByLabel('What should it do?').inputValue(), 'SCRIPT: text Planted.')
    t.ok(await phone.page.getByRole('switch', { name: /Own worktree/ }).isChecked(), 'on without being asked')
    await shoot(phone, 'new')
    await phone.press(/^Start on /)
    await phone.page.getByText('Planted.', { exact: true }).waitFor()
    const copies = join(home, 'worktrees', 'orchard')
    const [copy = ''] = readdirSync(copies)
    t.equal(copy, 'script-text-planted', 'named after its first message')
    t.equal(readFileSync(join(copies, copy, 'apples.txt'), 'utf8'), 'red\n', 'as it was committed')
    t.equal(readFileSync(join(orchard, 'apples.txt'), 'utf8'), 'red\nmine\n')

    await openMachine(phone)
    await phone.see(`afield/${copy}`)
    await phone.see('In use')
    await shoot(phone, 'machine')
    await phone.page
      .getByRole('button', { name: /^Stop / })
      .first()
      .click()
    await phone.page.getByRole('dialog').getByRole('button', { name: 'Stop', exact: true }).click()
    await phone.page.getByRole('dialog').waitFor({ state: 'detached' })
    await phone.page
      .getByRole('button', { name: /^Stop / })
      .first()
      .click()
    await phone.page.getByRole('dialog').getByRole('button', { name: 'Stop', exact: true }).click()
    await phone.see('No agent is running here.')
    await phone.press(`Remove afield/${copy}`)
    await phone.page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
    await phone.seeNoMore(`afield/${copy}`)
    t.notOk(existsSync(join(copies, copy)))
    t.ok(existsSync(join(orchard, 'pears.txt')))
  }
)

t.test('leftover agents are listed separately from sessions, and ended from the phone', async t => {
  const { phone, home, code } = await phoneAndDaemon(t)
  const stays = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' })
  t.teardown(() => stays.kill('SIGKILL'))
  const ended = new Promise(resolve => stays.once('exit', resolve))
  const gone = execFileSync(process.execPath, ['-p', 'process.pid']).toString().trim()
  mkdirSync(join(home, 'processes'), { recursive: true, mode: 0o700 })
  const note = JSON.stringify({ of: 'agent', title: 'Claude Code', folder: code, at: 0 })
  writeFileSync(join(home, 'processes', `${nameOf(stays.pid ?? 0)}@${gone}-1.json`), note)

  await openMachine(phone)
  await phone.see('Left over')
  await phone.see(new RegExp(`process ${stays.pid} · `))
  await shoot(phone, 'left-over')
  await phone.press('End Claude Code')
  await phone.see('End the process left by Claude Code?')
  t.equal(stays.exitCode, null, 'not before it was confirmed')
  await phone.page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click()
  await ended
  await phone.seeNoMore('Left over')
})

t.test('the daemon restarts from the phone, shows its log, and explains how to update it', async t => {
  const { phone, home, daemon } = await phoneAndDaemon(t, ['daemon', 'start'])
  t.equal(await daemon.ended, 0)
  await openMachine(phone)
  await phone.see('Running since')
  await phone.press(/^Log/)
  await phone.see(/ live/)
  await shoot(phone, 'log')
  await phone.page.goBack()
  await phone.press(/^Update/)
  await phone.see(/git pull && npm ci/)
  await phone.see('When it is done, restart the daemon from here.')
  await phone.page.goBack()
  await phone.see('Allowed folders')

  const before = findDaemon(home)?.pid
  await phone.press(/^Restart/)
  await phone.see('Restarting. Agents keep running.')
  await phone.see('Running since')
  const after = findDaemon(home)?.pid
  t.ok(after !== undefined && after !== before, `${before} gave its place to ${after}`)
})

t.test('a conversation begun with the plain agent is found by its words and continues as a session', async t => {
  const own = t.testdir({ config: {}, data: {} })
  const env = { CLAUDE_CONFIG_DIR: join(own, 'config'), CLAUDE_CODE_EXECUTABLE: fakeClaude }
  const { phone, home, code } = await phoneAndDaemon(t, ['daemon', 'run'], { data: join(own, 'data'), env })
  installFakeAdapter(home)
  writeConversation(
    join(own, 'config'),
    code,
    '00000001-0000-4000-8000-000000000000',
    'Plant the apple trees',
    'Planted twelve by the wall.'
  )
  writeConversation(join(own, 'config'), code, '00000002-0000-4000-8000-000000000000', 'Mend the fence', 'Mended.')

  await phone.visit('/new')
  await phone.press('Continue a conversation')
  await phone.see('Plant the apple trees')
  await phone.see('Mend the fence')
  await phone.write('Search conversations', 'twelve wall')
  await phone.press('Search')
  await phone.seeNoMore('Mend the fence')
  await phone.see('Planted twelve by the wall.')
  await shoot(phone, 'histories')
  await phone.page
    .getByRole('dialog')
    .getByRole('button', { name: /Plant the apple trees/ })
    .click()
  await phone.page.getByPlaceholder(/^Message /).waitFor()
  await phone.page.getByRole('log').getByText('Planted twelve by the wall.').waitFor()
  t.match(phone.page.url(), /\/s\//)
})

t.test('an unlinked machine leaves the list, and its program is signed out', async t => {
  const { phone, daemon } = await phoneAndDaemon(t)
  await openMachine(phone)
  await phone.press('Unlink this computer')
  await phone.see('It can no longer read or run anything. Sessions stay on your devices.')
  const unlink = phone.page.getByRole('dialog').getByRole('button', { name: 'Unlink this computer' })
  await unlink.click()
  await phone.see('No computer linked yet')
  await daemon.says(/ unlinked\n/)
})

async function phoneAndDaemon(
  t: Test,
  args: readonly string[] = ['daemon', 'run'],
  { data = join(t.testdir(), 'data'), env = {} }: { data?: string; env?: Record<string, string> } = {}
) {
  const server = await startServerProcess(t, { data })
  const { phone: account, home } = await linkedComputer(t, server)
  const code = join(home, '..', 'code')
  mkdirSync(code)
  writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders: [code] }), { mode: 0o600 })
  const phone = await devices.open(t, server.url)
  await phone.visit('/restore')
  await phone.write('Account key', formatBackupKey(account.secret))
  await phone.press('Restore')
  await phone.see('Live')
  const daemon = runWrapper(t, { home, args: [...args], env })
  await daemon.says(args[1] === 'run' ? / live\n/ : /./)
  return { phone, home, code, daemon }
}

/** In the format of Claude Code. */
function writeConversation(config: string, cwd: string, id: string, prompt: string, answer: string): void {
  const folder = join(config, 'projects', realpathSync(cwd).replace(/[^a-zA-Z0-9]/g, '-'))
  mkdirSync(folder, { recursive: true })
  const own = { sessionId: id, cwd: realpathSync(cwd), timestamp: new Date().toISOString() }
  const message = { role: 'assistant', model: 'm', stop_reason: 'end_turn', content: [{ type: 'text', text: answer }] }
  const rows = [
    { ...own, type: 'user', uuid: 'u0', message: { role: 'user', content: prompt } },
    { ...own, type: 'assistant', uuid: 'a0', message }
  ]
  writeFileSync(join(folder, `${id}.jsonl`), rows.map(row => `${JSON.stringify(row)}\n`).join(''))
}

function repository(folder: string): string {
  mkdirSync(folder)
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', ...args], { cwd: folder, stdio: 'pipe' })
  git('init', '--quiet', '-b', 'main')
  writeFileSync(join(folder, 'apples.txt'), 'red\n')
  git('add', '.')
  git('commit', '--quiet', '-m', 'Plant')
  return folder
}

async function chooseFolder(phone: Device, folder: string): Promise<void> {
  await phone.visit('/new')
  await phone.press('Choose a folder')
  await phone.write('Or type a path', folder)
  await phone.press('Use this path')
}

async function openMachine(phone: Device): Promise<void> {
  await phone.visit('/machines')
  await phone.page.locator('a[href^="/machines/"]').click()
}

/** Screenshots on a phone and a desktop, light and dark, if requested. */
async function shoot({ page }: Device, name: string): Promise<void> {
  if (shots === undefined) return
  const size = page.viewportSize() ?? { width: 390, height: 844 }
  for (const [kind, viewport] of Object.entries({ phone: { width: 390, height: 844 }, desk: { width: 1280, height: 800 } })) {
    await page.setViewportSize(viewport)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: join(shots, `${name}-${kind}-${colorScheme}.png`), animations: 'disabled' })
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(size)
}
