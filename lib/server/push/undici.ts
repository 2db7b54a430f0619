/** The HTTP client, in a file that is imported with the first request: a name of a CommonJS package cannot be imported later. */
export { request } from 'undici'
