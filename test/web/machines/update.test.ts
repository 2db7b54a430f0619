import t from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

t.test('the steps of an update name the command, the restart and what keeps the old version, and restart from there', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage()
  await openStory(page, origin, '/?app=machine-update', 'light')
  const sheet = page.getByRole('dialog')
  t.strictSame(
    (await sheet.getByRole('listitem').allInnerTexts()).map(text => text.split('\n')[0]),
    ['Run this on studio-mini:', 'When it is done, restart the daemon from here.']
  )
  t.match(await sheet.innerText(), /Running agents continue with the old version.*A server on the same computer has to be restarted too\./)
  await sheet.getByRole('button', { name: 'Restart the daemon' }).click()
  await sheet.waitFor({ state: 'detached' })
})
