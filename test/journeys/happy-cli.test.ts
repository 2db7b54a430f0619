import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { happy } from '../interop/happy.ts'
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

t.test('the published happy CLI is paired with and driven from the app', { skip: withoutHappy, timeout: 400_000 }, async t => {
  const { computer, phone, project } = await happyWorld(t, await openDevices(t))
  const write = (name: string) => `SCRIPT: tool write {"path":"${name}","content":"written"} ;; text ${name} is settled.`

  await t.test('the link that it prints can be pasted, and has no check code', async t => {
    t.equal(await pairWithHappy(computer, phone), 0)
  })

  await t.test('its daemon makes the computer a machine', async () => {
    await startHappyDaemon(computer, phone)
    await phone.page.getByText('Start a session here').first().waitFor()
    await shoot(phone, 'machine')
  })

  await t.test('a session appears, takes a prompt and answers', async () => {
    happy(computer, ['acp', 'scripted'], { cwd: project })
    await phone.visit('/')
    await phone.page.locator('a[href^="/s/"]').first().click()
    await say(phone, 'SCRIPT: think hm; text Hello from the agent.')
    await conversation(phone, 'Hello from the agent.').waitFor()
    await shoot(phone, 'talk')
  })

  await t.test('a request is allowed, another denied, and both are shown', async t => {
    const step = (name: string) => phone.page.getByRole('log').locator('.step').filter({ hasText: name })
    await say(phone, write('yes.txt'))
    await phone.page.locator('.dock').waitFor()
    t.match(await step('yes.txt').innerText(), /Wants to write\s+yes\.txt/i, 'it waits for this')
    await shoot(phone, 'asked')
    await pressAwake(phone, /^Allow once|^Allow/)
    await conversation(phone, 'yes.txt is settled.').waitFor()
    t.equal(readFileSync(join(project, 'yes.txt'), 'utf8'), 'written')
    t.equal(await step('yes.txt').count(), 1)
    t.match(await step('yes.txt').innerText(), /Wrote\s+yes\.txt[\s\S]*Allowed once/)
    await shoot(phone, 'allowed')
    await say(phone, write('no.txt'))
    await phone.page.locator('.dock').waitFor()
    await pressAwake(phone, /^Deny/)
    await shoot(phone, 'denying')
    await pressAwake(phone, /^Deny, continue/)
    await conversation(phone, 'no.txt is settled.').waitFor()
    t.notOk(existsSync(join(project, 'no.txt')))
    t.equal(await step('no.txt').count(), 1, 'the step and the answer are one')
    t.match(await step('no.txt').innerText(), /^Denied\s+no\.txt/)
    await shoot(phone, 'denied')
  })

  await t.test('each of its modes can be chosen, and applies from the next message', async t => {
    await chooseMode(phone, 'Edit freely')
    await shoot(phone, 'mode')
    await say(phone, write('free.txt'))
    await conversation(phone, 'free.txt is settled.').waitFor()
    t.equal(readFileSync(join(project, 'free.txt'), 'utf8'), 'written', 'without a question')
    await chooseMode(phone, 'Plan only')
    await say(phone, 'Water the apples.')
    await phone.see('so I change nothing')
    await chooseMode(phone, 'Ask first')
    await say(phone, write('asks.txt'))
    await pressAwake(phone, /^Allow once|^Allow/)
    await conversation(phone, 'asks.txt is settled.').waitFor()
    await phone.page.reload()
    await phone.page.locator('.composer .pill').filter({ hasText: 'Ask first' }).waitFor()
  })

  await t.test('its folder can be browsed, with its files and git status', async () => {
    const { pathname } = new URL(phone.page.url())
    await phone.visit(`${pathname}/files`)
    await phone.see('yes.txt')
    await phone.visit(`${pathname}/files/yes.txt`)
    await phone.see('written')
    await phone.visit(`${pathname}/changes`)
    await phone.see('Not a git repository')
    execFileSync('git', ['init', '-q', '-b', 'orchard'], { cwd: project })
    await phone.visit(`${pathname}/changes`)
    await phone.see('free.txt')
    await phone.see('orchard')
    await shoot(phone, 'changes')
    await phone.visit(pathname)
    await conversation(phone, 'no.txt is settled.').waitFor()
  })

  await t.test('its work is stopped, and the session is archived', async () => {
    await say(phone, 'SCRIPT: tool read {"path":"free.txt"} ;; slow 20000 a b c d e f g h i j k l m n o p q r s t u v w x y z')
    // This CLI drops requests that arrive before it has started to work.
    await phone.see('Read free.txt')
    await phone.press('Stop the agent')
    await shoot(phone, 'stopping')
    // This version of the CLI exits when it is stopped during a turn.
    await phone.see(/Ended|ended|Stopped|stopped/)
    await shoot(phone, 'stopped')
    await phone.press('Session menu')
    await phone.page.getByRole('menuitem', { name: 'Archive', exact: true }).click()
    await phone.visit('/archive')
    await phone.see('project')
    await shoot(phone, 'archive')
  })

  await t.test('its machine offers to start another one', async () => {
    await openMachine(phone)
    await phone.press('Start a session here')
    await phone.page.getByRole('button', { name: /^Start on/ }).waitFor()
    await shoot(phone, 'new')
  })
})
