import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openDevices } from '../kit/browser.ts'
import { pressAwake, say } from './kit/decision-world.ts'
import {
  chooseMode,
  conversation,
  happyWorld,
  openMachine,
  pairWithHappy,
  shoot,
  startHappyDaemon,
  withoutHappy
} from './kit/happy-world.ts'

t.test(
  'the daemon of the published happy CLI starts and stops what the app asks for',
  { skip: withoutHappy, timeout: 400_000 },
  async t => {
    const { computer, folder, phone } = await happyWorld(t, await openDevices(t))
    const orchard = join(folder, 'new orchard')
    const write = (name: string) => `SCRIPT: tool write {"path":"${name}","content":"written"} ;; text ${name} is settled.`
    await pairWithHappy(computer, phone)
    await startHappyDaemon(computer, phone)
    const machine = new URL(phone.page.url()).pathname.split('/').at(-1)
    const visitNew = () =>
      phone.visit(`/new?machine=${machine}&folder=${encodeURIComponent(orchard)}&prompt=${encodeURIComponent(write('first.txt'))}`)

    await t.test('only agents that it found are offered, and only modes that they have', async t => {
      await visitNew()
      t.ok(await offers('agent', ['Gemini']))
      t.ok(await offers('mode', ['Ask first', 'Full auto']))
      await shoot(phone, 'spawning')
    })

    await t.test('a missing folder is created after confirmation, and the session starts in it and asks', async t => {
      await phone.press(/^Start on/)
      await phone.page.getByRole('dialog').waitFor()
      t.notOk(existsSync(orchard))
      await shoot(phone, 'make-folder')
      await phone.press('Create and start')
      await pressAwake(phone, /^Allow once|^Allow/)
      await conversation(phone, 'first.txt is settled.').waitFor()
      t.equal(readFileSync(join(orchard, 'first.txt'), 'utf8'), 'written')
      await shoot(phone, 'spawned')
    })

    await t.test('its modes, which the wrapper does not report, can be chosen, persist, and are shown on every device', async t => {
      await chooseMode(phone, 'Full auto', 'Use Full auto')
      await say(phone, write('auto.txt'))
      await conversation(phone, 'auto.txt is settled.').waitFor()
      t.ok(existsSync(join(orchard, 'auto.txt')), 'without a question')
      await phone.page.reload()
      await phone.page.locator('.composer .pill').filter({ hasText: 'Full auto' }).waitFor()
      await shoot(phone, 'auto')
      for (const mode of ['Ask before changes', 'Ask first']) {
        await chooseMode(phone, mode)
        await say(phone, write(`${mode.replaceAll(' ', '-')}.txt`))
        await pressAwake(phone, /^Deny/)
        await pressAwake(phone, /^Deny, continue/)
        await conversation(phone, `${mode.replaceAll(' ', '-')}.txt is settled.`).waitFor()
      }
    })

    await t.test('the agent is stopped; one of this kind cannot be resumed, and nothing offers it', async t => {
      await phone.press('Session menu')
      await phone.page.getByRole('menuitem', { name: 'End agent' }).click()
      await phone.page.getByRole('dialog').getByRole('button', { name: 'End agent' }).click()
      await phone.see(/ended/i)
      await shoot(phone, 'ended')
      t.equal(
        await phone.page
          .getByText(/resume/i)
          .filter({ visible: true })
          .count(),
        0
      )
    })

    await t.test('a session that never asks is started that way, with its first message', async t => {
      await phone.visit(`/new?machine=${machine}&folder=${encodeURIComponent(orchard)}&prompt=${encodeURIComponent(write('bold.txt'))}`)
      await phone.page.getByText('Full auto', { exact: true }).click()
      await phone.press(/^Start in Full auto on/)
      await conversation(phone, 'bold.txt is settled.').waitFor()
      t.ok(existsSync(join(orchard, 'bold.txt')), 'without a question')
    })

    await t.test('the daemon itself is stopped', async () => {
      await openMachine(phone)
      await phone.press('Stop daemon')
      await shoot(phone, 'stop-daemon')
      await phone.page.getByRole('dialog').getByRole('button', { name: 'Stop daemon' }).click()
      await phone.see(/Offline|Not running/)
      await shoot(phone, 'daemon-gone')
    })

    // Options shown before the daemon answered disappear.
    async function offers(group: string, names: readonly string[]): Promise<boolean> {
      const isSo = ([group, names]: readonly [string, string]) =>
        [...document.querySelectorAll(`label:has(input[name=${group}])`)].map(label => label.textContent).join() === names
      await phone.page.waitForFunction(isSo, [group, names.join()] as const)
      return true
    }
  }
)
