import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t from 'tap'
import { openRules } from '../../lib/wrapper/approvals/rules.ts'
import { openDevices } from '../kit/browser.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'
import { pressAwake, say, world } from './kit/deciding.ts'

const devices = await openDevices(t)

t.test('questions are answered one after the other and sent together, and count as decisions', async t => {
  const { phone, session } = await world(t, devices)
  await say(phone, 'SCRIPT: ask')
  await phone.see('Which colour shall the gate have?')
  await phone.visit('/')
  await phone.see('1 agent needs you')
  await phone.page
    .getByRole('link', { name: /Which colour/ })
    .first()
    .click()
  await phone.see('1 of 4')
  t.equal(await phone.page.getByRole('radio', { checked: true }).count(), 0, 'nothing is chosen beforehand')
  await phone.page.keyboard.press('1')
  await phone.page.getByRole('radio', { name: /Green/, checked: true }).waitFor()
  await pressAwake(phone, 'Next')
  await phone.see('What do you have at hand?')
  await phone.page.getByText('Rope').click()
  await pressAwake(phone, 'Next')
  await phone.see('How many days')
  t.equal(await phone.page.getByRole('button', { name: 'Next' }).isDisabled(), true, 'this one needs an answer')
  await phone.write('Your answer', '3')
  await pressAwake(phone, 'Next')
  await phone.see('Anything else?')
  await pressAwake(phone, 'Next')
  await phone.see('Your answers')
  if (process.env['SHOTS']) await phone.screenshot(join(process.env['SHOTS'], 'review.png'))
  await pressAwake(phone, 'Send answers')
  await phone.seeNoMore('Your answers')
  await session.until(({ state }) => Object.values(state.completedCommunications ?? {})[0]?.status === 'answered')
  await phone.see(/You answered: Green/)
})

t.test('a plan is started in the mode chosen, or goes back with words that reach the agent', async t => {
  const { phone, session } = await world(t, devices, {
    args: ['run', '--', process.execPath, resolve('test/journeys/plan-agent.mjs')],
    directory: mkdtempSync(join(tmpdir(), 'afield-plan-'))
  })
  const plan = phone.page.getByRole('heading', { name: 'Go ahead with this?' })
  await say(phone, 'Plan it')
  await plan.waitFor()
  await phone.see('Names 1 file.')
  await pressAwake(phone, 'Change it…')
  await phone.page.getByLabel('What shall be different?').waitFor()
  await phone.write('What shall be different?', 'Leave the gate')
  await pressAwake(phone, 'Send back')
  await plan.waitFor({ state: 'hidden' })
  await phone.see('I hear: Leave the gate')
  t.match(Object.values(session.state.completedRequests ?? {}), [{ status: 'denied', reason: 'Leave the gate' }])

  await say(phone, 'Plan it')
  await plan.waitFor()
  t.equal(await phone.page.getByLabel('Ask first').isChecked(), true, 'it asks first unless told otherwise')
  await phone.page.getByRole('radio', { name: 'Full auto' }).check()
  await phone.page.getByRole('button', { name: /^Hold to start/ }).waitFor()
  await phone.page.getByRole('radio', { name: 'Edit freely' }).check()
  await pressAwake(phone, 'Start the work')
  await plan.waitFor({ state: 'hidden' })
  await phone.see('Off I go in acceptEdits.')
})

t.test('rules are listed, tried, changed, paused and removed in the settings', async t => {
  const { phone, home } = await world(t, devices)
  const helper = runWrapper(t, { home, args: ['daemon', 'run'] })
  await helper.says(/ live\n/)
  openRules(home).set({ on: 'command', pattern: 'echo *', folder: join(home, 'demo') }, 'Tablet')
  await phone.visit('/settings')
  await phone.press(/^Approval rules/)
  await phone.see('not used yet')
  if (process.env['SHOTS']) await phone.screenshot(join(process.env['SHOTS'], 'rules.png'))
  await phone.page.getByLabel('Pause all rules').click()
  await phone.see('All rules are paused')
  t.equal(openRules(home).read().isPaused, true)
  await phone.press(/echo \*/)
  await phone.see('Made on Tablet')
  await phone.write('Pattern', 'bash *')
  await phone.see('this would allow any command')
  await phone.write('Pattern', 'echo hello')
  await phone.see(/would pass|Nothing of this kind/)
  if (process.env['SHOTS']) await phone.screenshot(join(process.env['SHOTS'], 'rule.png'))
  await phone.press('Save')
  await phone.press(/echo hello/)
  await phone.press('Remove')
  await phone.see('No rules')
  t.same(openRules(home).read().rules, [])
  t.equal(JSON.parse(readFileSync(join(home, 'rules.json'), 'utf8')).isPaused, true)
})
