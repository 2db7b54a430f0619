import t from 'tap'
import { openChromium } from '../../../../kit/chromium.ts'
import { openStory } from '../../../kit/open-story.ts'
import { serveStories } from '../../../stories/serve.ts'

t.test('what has no lines to show says what changed: its size, or its commit', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: { width: 1280, height: 4000 } })
  page.setDefaultTimeout(10_000)
  await openStory(page, origin, '/?story=work-kinds', 'light')
  const said: [file: string, says: string][] = [
    ['data/seed.bin', 'Not a text file, so its lines are not shown. 20.5 kB before, 21.0 kB now.'],
    ['data/new.bin', 'Not a text file, so its lines are not shown. nothing before, 512 B now.'],
    ['themes/dark', 'Submodule. From commit nothing to 0f1e2d3c.']
  ]
  for (const [file, says] of said) {
    await page.getByRole('article', { name: file }).getByText(says, { exact: true }).waitFor()
    t.pass(file)
  }
})
