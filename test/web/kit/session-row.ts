/** A session as the app lists it, without what each test says of its own. */
export const sessionRow = {
  seq: 1,
  isActive: true,
  activeAt: 1,
  isThinking: false,
  createdAt: 1,
  updatedAt: 1,
  dataEncryptionKey: null,
  agentState: null
}
