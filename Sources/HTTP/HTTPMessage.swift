/// Header fields in the order given; names are compared without regard to case, as in HTTP.
package struct HTTPHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    package struct Field: Sendable, Equatable {
        package var name: String
        package var value: String
    }

    package private(set) var fields: [Field] = []

    package init() {}

    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { add(name, value) }
    }

    package mutating func add(_ name: String, _ value: String) { fields.append(Field(name: name, value: value)) }

    /// The value of the first field with that name; setting it replaces all fields with the name.
    package subscript(_ name: String) -> String? {
        get { fields.first { Self.same($0.name, name) }?.value }
        set {
            fields.removeAll { Self.same($0.name, name) }
            if let newValue { add(name, newValue) }
        }
    }

    /// The values of all fields with that name, in order.
    package func all(_ name: String) -> [String] { fields.filter { Self.same($0.name, name) }.map(\.value) }

    private static func same(_ a: String, _ b: String) -> Bool {
        a.utf8.count == b.utf8.count && zip(a.utf8, b.utf8).allSatisfy { lowered($0) == lowered($1) }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 { byte &- 65 < 26 ? byte | 0x20 : byte }
}

/// One request, as a client sends it and as a server's handler receives it.
package struct HTTPRequest: Sendable, Equatable {
    /// Upper case: "GET", "POST".
    package var method: String
    /// An absolute path without a query: "/api/v1/stats". Percent-decoded on the server.
    package var path: String
    /// Decoded. If a name is repeated, the last one counts.
    package var query: [String: String]
    /// In a client: a percent-encoded query that is sent exactly as it is, in place of `query`. In a server: nil.
    package var encodedQuery: String?
    package var headers: HTTPHeaders
    package var body: [UInt8]
    /// On the server: a number for the client's address (for IPv6, for its /64 network); 0 for a request that didn't
    /// come over a network. Behind a proxy it stands for the proxy's address.
    package var peer: UInt64 = 0

    package init(
        method: String = "GET", path: String, query: [String: String] = [:], headers: HTTPHeaders = [:],
        body: [UInt8] = []
    ) {
        (self.method, self.path, self.query, self.headers, self.body) = (method, path, query, headers, body)
    }

    /// The token from `Authorization: Bearer …`; nil if there is none.
    package var bearerToken: String? {
        guard let field = headers["Authorization"], field.utf8.count > 7, field.prefix(7).lowercased() == "bearer "
        else { return nil }
        return String(field.dropFirst(7))
    }
}

/// One response.
package struct HTTPResponse: Sendable, Equatable {
    package var status: Int
    package var headers: HTTPHeaders
    package var body: [UInt8]
    /// The stream that is sent in place of a body, as events occur; set only in a server's response.
    package var events: EventStream?

    package init(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// A JSON response.
    package init(status: Int, json: [UInt8], headers: HTTPHeaders = [:]) {
        self.init(status: status, headers: ["Content-Type": "application/json"], body: json)
        for field in headers.fields { self.headers.add(field.name, field.value) }
    }

    /// A response of server-sent events, which lasts until the stream ends or its reader leaves.
    package init(events: EventStream) {
        self.init(status: 200, headers: ["Content-Type": "text/event-stream", "Cache-Control": "no-store"])
        self.events = events
    }

    /// The body as text, for messages and tests.
    package var text: String { String(decoding: body, as: UTF8.self) }
}
