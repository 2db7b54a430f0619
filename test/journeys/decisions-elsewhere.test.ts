import t from 'tap'
import { openDevices } from '../kit/browser.ts'
import { ask, run, world } from './kit/decision-world.ts'

const devices = await openDevices(t)

t.test(
  'a decision that is open on the screen shows in place who answered it, that it was withdrawn, or that its session stopped [acceptance 3]',
  async t => {
    const { phone, session } = await world(t, devices)
    const notice = (text: string) => phone.page.locator('.ans').filter({ hasText: text })
    const answerOnTablet = async (approved: boolean) => {
      const [id, { shown } = {}] = Object.entries(session.state.requests ?? {})[0] ?? []
      if (id === undefined) throw new Error('nothing is open')
      await session.call('permission', {
        id,
        approved,
        decision: approved ? 'approved' : 'denied',
        answeredBy: 'Tablet',
        ...(shown && { shown })
      })
    }
    await run(phone, 'echo one')
    await ask(phone).waitFor()
    await answerOnTablet(true)
    await notice('Answered on Tablet').waitFor()
    t.match(await notice('Answered on Tablet').innerText(), /\d:\d\d[\s\S]*echo one[\s\S]*Allowed once/)
    await phone.press('Close')
    await notice('Answered on Tablet').waitFor({ state: 'detached' })
    await phone.visit(`/needs-you/${Object.keys(session.state.completedRequests ?? {})[0]}`)
    await notice('Answered on Tablet').waitFor()
    await phone.visit(`/s/${session.id}`)

    await run(phone, 'echo again')
    await ask(phone).waitFor()
    await answerOnTablet(true)
    await notice('echo again').waitFor()
    await run(phone, 'echo two')
    await ask(phone).waitFor()
    await notice('echo again').waitFor({ state: 'detached' })
    await phone.visit('/needs-you')
    await ask(phone).waitFor()
    await session.call('abort', {})
    await notice('Demo agent withdrew this').waitFor()
    await phone.see('Nothing needs you')
    await phone.page.goBack()

    await run(phone, 'echo three')
    await ask(phone).waitFor()
    await session.call('killSession', {}).catch(() => {})
    await notice('Session stopped').waitFor()
    await notice('The command did not run.').waitFor()
  }
)
