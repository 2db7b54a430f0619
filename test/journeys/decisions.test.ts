import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openRules } from '../../lib/wrapper/approvals/rules.ts'
import { openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'
import { ask, pressAwake, run, say, world } from './kit/decision-world.ts'

const devices = await openDevices(t)

t.test('what is allowed for the session or permanently is not asked again, and anything else is', async t => {
  const { phone, home, session } = await world(t, devices)
  await run(phone, 'echo one')
  await ask(phone).waitFor()
  await phone.page.getByRole('radio', { name: 'This session' }).check()
  await pressAwake(phone, 'Allow this session')
  await ask(phone).waitFor({ state: 'hidden' })
  await session.until(({ state }) => Object.keys(state.completedRequests ?? {}).length === 1)
  await run(phone, 'echo one')
  await session.until(({ state }) => Object.keys(state.completedRequests ?? {}).length === 2)
  const [first, second] = Object.values(session.state.completedRequests ?? {})
  t.match(first, { decision: 'approved_for_session', rule: 'echo one' })
  t.match(second, { status: 'approved', rule: 'echo one' }, 'the second one is answered by the rule')
  t.notOk(second?.answeredBy, 'and by no device')

  await run(phone, 'echo two')
  await pressAwake(phone, 'Always…')
  await phone.page.getByRole('dialog').waitFor()
  t.equal(await phone.page.getByLabel('Pattern').inputValue(), 'echo two', 'the narrowest rule is proposed')
  await phone.write('Pattern', 'bash *')
  await phone.see('this would allow any command')
  t.equal(await phone.page.getByRole('button', { name: 'Allow from now on' }).isDisabled(), true)
  await phone.write('Pattern', 'echo *')
  await phone.see('2 of your last 2 would be allowed.')
  if (process.env['SHOTS']) await phone.screenshot(join(process.env['SHOTS'], 'always.png'))
  await pressAwake(phone, 'Allow from now on')
  await ask(phone).waitFor({ state: 'hidden' })
  await session.until(({ state }) => Object.keys(state.completedRequests ?? {}).length === 3)
  t.match(openRules(home).read().rules, [{ pattern: 'echo one' }, { pattern: 'echo *', on: 'command', used: 0, endsAt: undefined }])

  await run(phone, 'echo three')
  await session.until(({ state }) => Object.keys(state.completedRequests ?? {}).length === 4)
  await phone.page.locator('.step .tool-s', { hasText: 'echo three' }).click()
  await phone.see('Allowed by rule echo *')

  await run(phone, 'echo four && touch tricked')
  await ask(phone).waitFor()
  t.equal(await phone.page.getByRole('button', { name: 'Always…' }).count(), 0, 'no rule can be made of it')
  await pressAwake(phone, 'Deny…')
  await phone.page.getByRole('button', { name: 'Deny, continue' }).waitFor()
  await pressAwake(phone, 'Deny, continue')
  await ask(phone).waitFor({ state: 'hidden' })
  t.equal(existsSync(join(home, 'demo/tricked')), false)

  await phone.visit('/settings/rules')
  await phone.page.getByRole('link', { name: /^echo \*/ }).click()
  await phone.page.getByRole('button', { name: 'Remove' }).click()
  await phone.page.getByRole('link', { name: /^echo one/ }).waitFor()
  t.match(openRules(home).read().rules, [{ pattern: 'echo one' }], 'no daemon runs: the session takes it back')
  await phone.visit(`/s/${session.id}`)
  await run(phone, 'echo five')
  await ask(phone).waitFor()
})

t.test('decisions show the device they were made on, and no other with the same name', async t => {
  const { phone, home, session } = await world(t, devices)
  const daemon = runWrapper(t, { home, args: ['daemon', 'run'] })
  await daemon.says(/ live\n/)
  await run(phone, 'echo one')
  await pressAwake(phone, /^Allow once/)
  await session.until(({ state }) => Object.keys(state.completedRequests ?? {}).length === 1)
  const [here] = Object.values(session.state.completedRequests ?? {})
  await run(phone, 'echo two')
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  for (const id of Object.keys(session.state.requests ?? {}))
    await session.call('permission', { id, approved: false, answeredBy: here?.answeredBy ?? '' })
  await session.until(({ state }) => Object.keys(state.completedRequests ?? {}).length === 2)

  await phone.visit('/settings/devices')
  await phone.page
    .getByRole('link', { name: /^Decisions on this device/ })
    .first()
    .click()
  await phone.see('echo one')
  t.equal(await phone.page.getByText('echo two').count(), 0)
  t.equal(await phone.page.getByText(/^Allowed /).count(), 1)
})

t.test('a plain request that fits its card is allowed once from Home', async t => {
  const { phone, session } = await world(t, devices)
  const decided = (count: number) => session.until(({ state }) => Object.keys(state.completedRequests ?? {}).length === count)
  await run(phone, 'echo one')
  await ask(phone).waitFor()
  await phone.visit('/')
  await pressAwake(phone, /^Allow once/)
  await decided(1)
  await phone.page.getByRole('button', { name: /^Allow once/ }).waitFor({ state: 'hidden' })
  await phone.visit(`/s/${session.id}`)
  await say(phone, 'SCRIPT: tool write {"path":"two.sh","content":"true"}')
  await phone.page.getByRole('heading', { name: 'Write two.sh?' }).waitFor()
  await phone.visit('/')
  await phone.page.locator('.ask .diff', { hasText: 'true' }).waitFor()
  await pressAwake(phone, /^Allow once/)
  await decided(2)
  t.match(Object.values(session.state.completedRequests ?? {}), [
    { status: 'approved', decision: 'approved', answeredBy: /./ },
    { status: 'approved', decision: 'approved', answeredBy: /./ }
  ])
  await phone.visit(`/s/${session.id}`)
  await run(phone, 'sh two.sh')
  await ask(phone).waitFor()
  await phone.visit('/')
  await phone.page.getByRole('link', { name: /^Review/ }).waitFor()
  t.equal(
    await phone.page.getByRole('button', { name: /^Allow/ }).count(),
    0,
    'a command that runs a file changed in this session has to be reviewed'
  )
})

t.test(
  'a risky command cannot be allowed by a tap, by Enter, from a list, or offline, only by one long press [acceptance 1] [U1]',
  async t => {
    const { phone, home, server } = await world(t, devices)
    mkdirSync(join(home, 'demo/leaves'), { recursive: true })
    writeFileSync(join(home, 'demo/leaves/one'), '')
    await run(phone, 'rm -rf leaves')
    await ask(phone).waitFor()
    await phone.see('Just this once.')
    t.equal(await phone.page.getByRole('radio', { name: 'This session' }).count(), 0)
    const hold = phone.page.getByRole('button', { name: /^Hold to run once/ })
    await hold.click()
    await phone.page.keyboard.press('Enter')
    await phone.page.keyboard.press('Space')
    t.equal(existsSync(join(home, 'demo/leaves')), true, 'a tap and Enter do nothing')
    await phone.visit('/')
    await phone.see('Run a command')
    t.equal(await phone.page.getByRole('button', { name: /allow|hold/i }).count(), 0, 'a list only leads to it')
    await phone.visit('/needs-you')
    await pressAwake(phone, /^Hold to run once/)
    t.equal(existsSync(join(home, 'demo/leaves')), true, 'nor does a tap among all that needs you')
    await phone.page.getByRole('log').getByText('rm -rf leaves').first().waitFor()
    await phone.page.locator('.foot-line .stop').waitFor()

    await phone.page.goBack()
    await phone.page.goBack()
    await ask(phone).waitFor()
    await server.kill()
    await phone.see('A risky decision needs a live connection.')
    t.equal(existsSync(join(home, 'demo/leaves')), true)
    await startServerProcess(t, { data: server.data, port: Number(new URL(server.url).port) })
    await phone.page.getByRole('button', { name: /^Hold to run once/ }).waitFor()
    await phone.hold(/^Hold to run once/, 'Ran rm -rf leaves')
    t.equal(existsSync(join(home, 'demo/leaves')), false)
  }
)

t.test('the button that allows all edits says so, and so does the decision', async t => {
  const { phone, session } = await world(t, devices)
  await say(phone, 'SCRIPT: tool write {"path": "apple.txt", "content": "apple"}')
  await phone.page.getByRole('radio', { name: 'This session' }).check()
  const shots = process.env['SHOTS']
  await phone.page.getByRole('button', { name: 'Allow all edits this session' }).waitFor()
  if (shots) await phone.screenshot(join(shots, 'all-edits.png'))
  await pressAwake(phone, 'Allow all edits this session')
  await session.until(({ state }) => Object.keys(state.completedRequests ?? {}).length === 1)
  t.match(Object.values(session.state.completedRequests ?? {}), [
    { decision: 'approved_for_session', grants: { what: [{ type: 'edits' }] } }
  ])
})
