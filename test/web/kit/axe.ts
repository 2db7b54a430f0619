import { createRequire } from 'node:module'
import type { AxeResults, RunOptions } from 'axe-core'
import type { BrowserContext, Page } from 'playwright-core'

const source = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** Every page of these that opens from now on can be asked. */
export async function bringAxe(context: BrowserContext): Promise<void> {
  await context.addInitScript({ path: source })
}

/** What is serious or critical on the page, a line for each element: the rule, where, and why. With `rules`, only by these. */
export async function seriousOn(page: Page, rules?: readonly string[]): Promise<string[]> {
  // A screen may change while it is looked at, say because its machine has answered: what is wrong is so for longer than that.
  const found = await lookAt(page, rules)
  return found.length > 0 ? lookAt(page, rules) : found
}

async function lookAt(page: Page, rules: readonly string[] | undefined): Promise<string[]> {
  // What still fades has neither its colour nor its place yet.
  await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => {}))))
  const options: RunOptions = {
    resultTypes: ['violations'],
    preload: false,
    ...(rules && { runOnly: { type: 'rule', values: [...rules] } })
  }
  const { violations } = await page.evaluate<AxeResults, RunOptions>(given => Reflect.get(globalThis, 'axe').run(document, given), options)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(node => `${id}: ${node.target.join(' ')}: ${node.failureSummary?.split('\n')[1]?.trim() ?? ''}`))
}
