// The part of age that key files need: it comes when one is saved or opened.
export { armor, Decrypter, Encrypter } from 'age-encryption'
