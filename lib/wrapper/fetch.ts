// A file of its own, for who loads it late: a bundler that splits hands over no names of a CommonJS package that is imported then.
export { fetch } from 'undici'
