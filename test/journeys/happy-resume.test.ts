import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Computer } from '../interop/computer.ts'
import { happy } from '../interop/happy.ts'
import { type Device, openDevices } from '../kit/browser.ts'
import { publishedProgram } from '../kit/needs.ts'
import { startFakeModel } from '../real/fake-model.ts'
import { say } from './kit/decision-world.ts'
import { conversation, happyWorld, pairWithHappy, shoot, startHappyDaemon, withoutHappy } from './kit/happy-world.ts'

const claude = publishedProgram('claude')

t.test('a Claude Code conversation is continued through the daemon of the happy CLI', { skip: withoutHappy, timeout: 400_000 }, async t => {
  const { computer, phone, project } = await happyWorld(t, await openDevices(t))
  await bringClaude(t, computer, project)
  await pairWithHappy(computer, phone)
  await startHappyDaemon(computer, phone)
  const machine = new URL(phone.page.url()).pathname.split('/').at(-1)

  await t.test('it starts on the phone', async () => {
    await phone.visit(`/new?machine=${machine}&folder=${encodeURIComponent(project)}&prompt=${encodeURIComponent('the first pear')}`)
    await phone.press(/^Start on/)
    await conversation(phone, 'you said: the first pear').waitFor()
    await shoot(phone, 'claude')
  })

  // Happy's wrapper ignores messages sent before it started.
  await t.test('it is stopped, and resumed by a daemon that remembers it; messages sent meanwhile wait for the agent', async () => {
    await endAgent(phone)
    await isOver(computer)
    await phone.press('Resume')
    await say(phone, 'the second pear')
    await conversation(phone, 'you said: the second pear').waitFor()
  })

  await t.test('it is resumed by a daemon that has forgotten it', async () => {
    await endAgent(phone)
    await isOver(computer)
    const { pathname } = new URL(phone.page.url())
    await happy(computer, ['daemon', 'stop']).ended
    rmSync(join(computer.home, '.happy', 'sessions.json'))
    await startHappyDaemon(computer, phone)
    await phone.visit(pathname)
    await phone.page.getByRole('button', { name: 'Resume' }).waitFor()
    // Sending a message is enough to resume it.
    await say(phone, 'the third pear')
    await conversation(phone, 'you said: the third pear').waitFor()
    await conversation(phone, 'you said: the first pear').waitFor()
    await shoot(phone, 'resumed')
  })
})

async function endAgent(phone: Device): Promise<void> {
  await phone.press('Session menu')
  await phone.page.getByRole('menuitem', { name: 'End agent' }).click()
  await phone.page.getByRole('dialog').getByRole('button', { name: 'End agent' }).click()
  await phone.page.getByRole('button', { name: 'Resume' }).waitFor()
}

/** Waits until the daemon lists no session: it counts one that is about to end as running. */
async function isOver(computer: Computer): Promise<void> {
  for (;;) {
    const list = happy(computer, ['daemon', 'list'])
    await list.ended
    if (/No active sessions/.test(list.printed())) return
  }
}

/** The Claude Code that ships with this CLI, with a model on loopback that repeats the prompt. */
async function bringClaude(t: Test, computer: Computer, project: string): Promise<void> {
  symlinkSync(claude, join(computer.agents, 'claude'))
  const key = `sk-ant-fake-${'0'.repeat(40)}`
  const config = join(computer.home, '.claude')
  mkdirSync(config)
  const known = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true }
  const about = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: [key.slice(-20)] },
    projects: { [project]: known }
  }
  writeFileSync(join(config, '.claude.json'), JSON.stringify(about))
  computer.env = {
    ANTHROPIC_BASE_URL: await startFakeModel(t, prompt => [{ type: 'text', text: `you said: ${prompt.trim()}` }]),
    ANTHROPIC_API_KEY: key,
    CLAUDE_CONFIG_DIR: config,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1'
  }
}
