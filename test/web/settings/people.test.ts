import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { approveApplicant, rejectApplicant, revokeInvite } from '../../../web/settings/people.ts'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

const { origin, close } = await serveStories()
t.teardown(close)
const browser = await openChromium(t)

t.test('each decision about a person names that person to the server', async t => {
  const asked: unknown[] = []
  const link = { rest: { call: async (...call: unknown[]) => void asked.push(call) } } as never
  const ada = { fingerprint: 'lunar-maple-river-cabin' } as never
  await approveApplicant(link, ada)
  await rejectApplicant(link, ada)
  await revokeInvite(link, { id: 'i1' } as never)
  t.same(asked, [
    ['approveSignup', { params: { fingerprint: 'lunar-maple-river-cabin' } }],
    ['rejectSignup', { params: { fingerprint: 'lunar-maple-river-cabin' } }],
    ['revokeInvite', { params: { id: 'i1' } }]
  ])
})

t.test('letting in, turning away, inviting and revoking each say when the server refuses', async t => {
  for (const button of ['Approve', 'Reject']) {
    const page = await open(t)
    await respond(page, { approveSignup: 404, rejectSignup: 404 })
    await page.getByRole('button', { name: button, exact: true }).click()
    await page.locator('.applicant').getByText('They may have stopped waiting.').waitFor()
  }
  const page = await open(t)
  await respond(page, { createInvite: 400, revokeInvite: 404 })
  await page.getByRole('button', { name: 'Revoke Jon' }).click()
  await page.locator('.toast', { hasText: 'That did not work' }).waitFor()
  await page.getByRole('button', { name: 'Invite someone' }).click()
  await page.getByRole('button', { name: 'Create link' }).click()
  await page.getByRole('dialog').getByText('That did not work').waitFor()
})

t.test('who was let in and what was revoked leave the lists at once', async t => {
  const page = await open(t)
  // The lists are also read again every ten seconds.
  await page.clock.pauseAt(Date.now() + 1000)
  await respond(page, { approveSignup: { success: true }, revokeInvite: { success: true }, listSignups: { signups: [] } })
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  await page.locator('.toast').waitFor()
  await page.clock.runFor(500)
  await page.getByText('No one is waiting.').waitFor()
  await respond(page, { listInvites: { invites: [] } })
  await page.getByRole('button', { name: 'Revoke Jon' }).click()
  await page.locator('[aria-label="Revoke Jon"]:not([aria-disabled])').waitFor()
  await page.clock.runFor(500)
  await page.getByText('No open invitations.').waitFor()
})

function respond(page: Page, server: Record<string, unknown>): Promise<void> {
  return page.evaluate(server => Reflect.get(globalThis, 'respond')(server), server)
}

async function open(t: Test): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
  t.teardown(() => page.close())
  page.setDefaultTimeout(8000)
  page.on('pageerror', error => t.error(error, 'the page runs without an error'))
  await page.clock.install()
  await openStory(page, origin, '/?app=people', 'light')
  await page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
  return page
}
