import library from 'web-push'

/** Encrypts and signs; loaded with the first notice that needs it. Sends nothing. */
export const generateRequestDetails = library.generateRequestDetails
