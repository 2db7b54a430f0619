import type { Browser, Page } from 'playwright-core'

/** The addresses of all stories, of sessions and of the whole app; without a name, these pages list them. */
export async function storyPaths(browser: Browser, origin: string): Promise<string[]> {
  const page = await browser.newPage()
  const named = async (kind: 'story' | 'app') => {
    await page.goto(`${origin}/?${kind}=`)
    const names = (await page.locator('body').innerText()).trim().split(/\s+/)
    return names.map(name => `/?${kind}=${name}`)
  }
  const paths = [...(await named('app')), ...(await named('story'))]
  await page.close()
  return paths
}

/** Opens a story and waits until it is fully rendered. */
export async function openStory(page: Page, origin: string, path: string, theme: string): Promise<void> {
  await page.goto(`${origin}${path}&theme=${theme}`)
  await page
    .locator('html[data-story="told"]')
    .waitFor({ state: 'attached', timeout: 15_000 })
    .catch(() => {
      throw new Error(`${path} is not told to its end.`)
    })
}
