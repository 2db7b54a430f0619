import library from 'web-push'

/** Encrypts and signs; loaded with the first notice that needs it. Nothing is sent. */
export const generateRequestDetails = library.generateRequestDetails
