/** A small schema text as the compiler writes them, for tests of what happens before any of it is answered. */
import type { DocumentLimits } from '../../environment/requests.ts';
import { buildSchemas } from '../documents/schemas.ts';

const text = `
scalar Date

scalar JSON

scalar Hash

scalar Decimal

scalar GraphQLBigInt

scalar Void

scalar GraphQLStringOrFloat

enum auth_mode {
  cookie
  json
}

type Query {
  "Books, by their titles."
  books(filter: books_filter, sort: [String], limit: Int): [books!]!
  books_by_id(id: ID!): books
  shelf: shelf
}

type Mutation {
  create_books_item(data: create_books_input!): books
  delete_books_item(id: ID!): Void
}

type SystemQuery {
  users: [platform_users!]!
}

type SystemMutation {
  auth_login(email: String!, password: String!, mode: auth_mode): Void
}

"Printed once."
type books {
  id: ID!
  title: String
  price: Decimal
    @deprecated(reason: "type shelf {")
  author: platform_users
  reviews(limit: Int): [reviews!]!
  item: owned
}

type reviews {
  id: ID!
  book: books
  text: String
}

type platform_users {
  id: ID!
  books: [books!]!
}

type shelf {
  id: ID!
}

union owned =
  | books
  | reviews

input books_filter {
  title: string_filter_operators
  price: decimal_filter_operators
  _and: [books_filter!]
}

input string_filter_operators {
  _eq: String
  _in: [String]
}

input decimal_filter_operators {
  _eq: GraphQLStringOrFloat
}

input create_books_input {
  title: String!
  price: Decimal
  weight: Float
  pages: Int
  isbn: GraphQLBigInt
  published: Date
  secret: Hash
  extra: JSON
  mode: auth_mode
  reviews: [create_reviews_input!]
}

input create_reviews_input {
  text: String
}
`;

/** Both schemas of it. */
export const library = buildSchemas('readers', text);

/** The limits that hold when nothing is configured. */
export const usualLimits: DocumentLimits = {
  introspection: true,
  tokens: 5_000,
  depth: 15,
  rootFields: 20,
  aliases: 100,
  cost: 5_000,
};
