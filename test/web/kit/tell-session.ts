import type { Page } from 'playwright-core'
import type { HomeEvent, SessionView } from '../../../web/model/store.ts'

/** In a story of the whole app, the server tells of this session, and its last line. */
export async function tellSession(page: Page, { last, ...session }: SessionView): Promise<void> {
  const events: HomeEvent[] = [{ type: 'session', session }]
  if (last) events.push({ type: 'line', id: session.id, line: last })
  await page.evaluate(events => events.forEach(Reflect.get(globalThis, 'tellHome')), events)
}
