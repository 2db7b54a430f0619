import type { CreateElicitationRequest, CreateElicitationResponse } from '@agentclientprotocol/sdk'

/** What the demo asks when somebody writes "ask me": one of several, several of several, a number and a text. */
export function askForm(sessionId: string): CreateElicitationRequest {
  const titled = (...names: string[]) => names.map(name => ({ const: name.toLowerCase(), title: name }))
  return {
    mode: 'form',
    sessionId,
    message: 'Before I mend the gate I would like to know a few things.',
    requestedSchema: {
      type: 'object',
      required: ['days'],
      properties: {
        colour: {
          type: 'string',
          title: 'Colour',
          description: 'Which colour shall the gate have?',
          oneOf: [{ const: 'green', title: 'Green', description: 'As the hedge.' }, ...titled('Red', 'Grey')]
        },
        colour_custom: { type: 'string', title: 'Other', description: 'A colour of your own.' },
        tools: {
          type: 'array',
          title: 'Tools',
          description: 'What do you have at hand?',
          items: { anyOf: titled('Hammer', 'Oil', 'Rope') }
        },
        days: { type: 'integer', title: 'Days', description: 'How many days may it take?', minimum: 1, maximum: 30 },
        note: { type: 'string', title: 'Note', description: 'Anything else?', maxLength: 500 }
      }
    }
  }
}

export function askLink(sessionId: string, url: string): CreateElicitationRequest {
  return { mode: 'url', sessionId, elicitationId: url, message: 'Please open this page.', url }
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
      return 'You would rather not say. I go on without.'
    default:
      return 'Nobody answered.'
  }
}
