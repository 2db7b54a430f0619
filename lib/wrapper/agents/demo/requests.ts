import type { CreateElicitationRequest, CreateElicitationResponse } from '@agentclientprotocol/sdk'

/** The form of the demo, a page to open, or one question that words answer. */
export function asked(sessionId: string, what: string | undefined): CreateElicitationRequest {
  if (what === undefined) return askForm(sessionId)
  return /^https?:/.test(what) && URL.canParse(what) ? askLink(sessionId, what) : askForWords(sessionId, what)
}

/** What the demo asks after "ask me": one of several, several of several, a number and a text. */
function askForm(sessionId: string): CreateElicitationRequest {
  const titled = (...names: string[]) => names.map(name => ({ const: name.toLowerCase(), title: name }))
  return {
    mode: 'form',
    sessionId,
    message: 'Before I fix the gate, I have a few questions.',
    requestedSchema: {
      type: 'object',
      required: ['days'],
      properties: {
        color: {
          type: 'string',
          title: 'Color',
          description: 'Which color should the gate be?',
          oneOf: [{ const: 'green', title: 'Green', description: 'Like the hedge.' }, ...titled('Red', 'Grey')]
        },
        color_custom: { type: 'string', title: 'Other', description: 'Another color.' },
        tools: {
          type: 'array',
          title: 'Tools',
          description: 'What do you have on hand?',
          items: { anyOf: titled('Hammer', 'Oil', 'Rope') }
        },
        days: { type: 'integer', title: 'Days', description: 'How many days may it take?', minimum: 1, maximum: 30 },
        note: { type: 'string', title: 'Note', description: 'Anything else?', maxLength: 500 }
      }
    }
  }
}

function askLink(sessionId: string, url: string): CreateElicitationRequest {
  return { mode: 'url', sessionId, elicitationId: url, message: 'Please open this page.', url }
}

function askForWords(sessionId: string, question: string): CreateElicitationRequest {
  const answer = { type: 'string' as const, title: 'Answer', description: question }
  const requestedSchema = { type: 'object' as const, required: ['answer'], properties: { answer } }
  return { mode: 'form', sessionId, message: question, requestedSchema }
}

/** What the demo says about an answer. */
export function retell(response: CreateElicitationResponse): string {
  switch (response.action) {
    case 'accept': {
      const content: unknown = 'content' in response ? response.content : undefined
      const answers = Object.entries(typeof content === 'object' && content !== null ? content : {})
      if (answers.length === 0) return 'Thank you.'
      return `You answered:\n\n${answers.map(([id, value]) => `- ${id}: ${[value].flat().join(', ')}`).join('\n')}`
    }
    case 'decline':
      return 'You did not answer. I continue without it.'
    default:
      return 'Nobody answered.'
  }
}
