/** What a notification asks. */
export const permission = {
  type: 'permission',
  id: 'p1',
  kind: 'execute',
  text: 'npm test',
  isWhole: true,
  risk: 'plain',
  mayAllow: true
} as const

export const question = { type: 'question', id: 'q1', text: 'Which tree?', reply: 'tree' } as const
