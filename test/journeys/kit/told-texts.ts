import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PhoneSession } from '../../wrapper/kit/phone.ts'

/** The demo agent's own record of what it said, one text per message. */
export function agentTexts(home: string): string[] {
  const folder = join(home, 'demo-conversations')
  const [file = ''] = readdirSync(folder)
  const { history } = JSON.parse(readFileSync(join(folder, file), 'utf8'))
  const texts = new Map<string, string>()
  for (const { sessionUpdate, messageId, content } of history) {
    if (sessionUpdate === 'agent_message_chunk') texts.set(messageId, (texts.get(messageId) ?? '') + content.text)
  }
  return [...texts.values()].map(text => text.trim())
}

/** What the server has of it, once the turn with the last of them is over. */
export async function storedTexts(session: PhoneSession, last: string): Promise<string[]> {
  const said = () => session.events().flatMap(event => (event.t === 'text' && !event.thinking ? [String(event.text).trim()] : []))
  await session.until(() => said().at(-1) === last && session.events().at(-1)?.t === 'turn-end')
  return said()
}

/** The texts that are missing from a page or out of order, ignoring white space. */
export function missingInOrder(shown: string, texts: string[]): string[] {
  const flat = withoutBlanks(shown)
  let at = 0
  return texts
    .map(text => withoutBlanks(withoutMarks(text)))
    .filter(text => {
      const found = flat.indexOf(text, at)
      if (found >= 0) at = found + text.length
      return found < 0
    })
}

/** Markdown as it reads when rendered. */
function withoutMarks(markdown: string): string {
  return markdown.replace(/^\d+\. /gm, '').replace(/[*`]/g, '')
}

function withoutBlanks(text: string): string {
  return text.replace(/\s+/g, '')
}
