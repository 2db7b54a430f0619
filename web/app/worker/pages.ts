import { withDeadline } from '../../../lib/async/deadline.ts'
import type { WorkerMessage } from '../../core/worker-messages.ts'

type Pages = Pick<Clients, 'matchAll' | 'openWindow'>

/** A page that has just opened may not be listening yet. */
const answersWithinMs = 1_500

/** Shows the alert in a visible page. False if no page accepted it. */
export async function alertInPage(clients: Pages, alert: Extract<WorkerMessage, { type: 'alert' }>): Promise<boolean> {
  for (const page of await windowsOf(clients)) if (page.visibilityState === 'visible' && (await isTaken(page, alert))) return true
  return false
}

/** Opens this address in an existing page, without a reload if the page is listening; otherwise in a new one. */
export async function openInPage(clients: Pages, path: string): Promise<void> {
  const [page] = await windowsOf(clients)
  if (page === undefined) return void (await clients.openWindow(path))
  // Browsers permit focusing only while the tap counts as user activation.
  await page.focus().catch(() => {})
  if (!(await isTaken(page, { type: 'open', path }))) await page.navigate(path).catch(() => clients.openWindow(path))
}

/** Visible pages first. */
async function windowsOf(clients: Pages): Promise<readonly WindowClient[]> {
  const pages = await clients.matchAll({ type: 'window', includeUncontrolled: true })
  return pages.toSorted((a, b) => Number(b.visibilityState === 'visible') - Number(a.visibilityState === 'visible'))
}

async function isTaken(page: Pick<WindowClient, 'postMessage'>, message: WorkerMessage): Promise<boolean> {
  const { port1, port2 } = new MessageChannel()
  try {
    await withDeadline(answersWithinMs, () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      port1.onmessage = () => resolve()
      page.postMessage(message, [port2])
      return promise
    })
    return true
  } catch {
    return false
  } finally {
    port1.close()
  }
}
