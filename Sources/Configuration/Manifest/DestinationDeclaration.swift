import HealthModel

/// What a plugin that delivers declares about its destination: `destination` in its manifest. Commands, alerts and
/// checks go by this, never by the names of plugins and options.
package struct DestinationDeclaration: Sendable, Equatable {
    package enum Kind: String, Sendable {
        /// The URL of a server with the backend's contract. Without one, the stack's own backend.
        case backend
        /// The URL of any other HTTP server.
        case server
        /// An address that may hold a password, so it is only shown as the destination reports it.
        case database
        /// The full path of a folder. Without one, `data` in the instance's own folder.
        case folder
        /// The address of an MQTT broker.
        case broker
    }

    package enum Keeps: String, Sendable {
        /// The highest version of each element, and tombstones: late copies change nothing.
        case versions
        /// Whatever comes last.
        case latest
        /// Files, which are written and compared whole.
        case files
    }

    /// The secret that the destination requires.
    package struct Token: Sendable, Equatable {
        /// The option that names the secret's file.
        package var option: String
        /// The environment variable that may hold the secret itself; nil for none.
        package var variable: String?
        /// What people call it: "token", "password".
        package var word: String

        package init(option: String, variable: String? = nil, word: String = "token") {
            (self.option, self.variable, self.word) = (option, variable, word)
        }

        fileprivate init?(_ value: Value) {
            guard let option = value["option"].string else { return nil }
            self.init(option: option, variable: value["variable"].string, word: value["word"].string ?? "token")
        }
    }

    package var kind: Kind
    /// What people call the destination, after "the".
    package var word: String
    /// The options that say where its things are, the address first. Two instances with equal ones share a place.
    package var place: [String]
    /// The environment variable with the address, for an instance whose options leave it out; nil for none.
    package var variable: String?
    package var keeps: Keeps
    /// Whether what it keeps can be compared with what was delivered.
    package var isVerified: Bool
    package var token: Token?
    /// The option that says who each user is there: an object with an identifier for each. Two users with equal ones
    /// would overwrite each other's data. nil if the destination knows users by their names here.
    package var people: String?

    /// - Parameter word: nil for the kind's name.
    package init(
        _ kind: Kind, word: String? = nil, place: [String] = [], variable: String? = nil, keeps: Keeps = .versions,
        isVerified: Bool = true, token: Token? = nil, people: String? = nil
    ) {
        self.kind = kind
        self.word = word ?? kind.rawValue
        (self.place, self.variable, self.keeps, self.isVerified) = (place, variable, keeps, isVerified)
        (self.token, self.people) = (token, people)
    }

    /// Reads the declaration of a plugin that delivers.
    /// - Parameter manifest: already accepted by the manifests' schema.
    init(manifest: Value) {
        let value = manifest["destination"]
        guard let kind = value["kind"].string.flatMap(Kind.init) else {
            self = Self.formerly(manifest["configuration"]["properties"])
            return
        }
        self.init(
            kind, word: value["word"].string, place: (value["place"].array ?? []).compactMap(\.string),
            variable: value["variable"].string, keeps: value["keeps"].string.flatMap(Keeps.init) ?? .versions,
            isVerified: value["verified"].bool ?? true, token: Token(value["token"]), people: value["people"].string)
    }

    /// The options that it names, by member.
    var options: [(member: String, option: String)] {
        place.enumerated().map { ("place[\($0)]", $1) } + (token.map { [("token.option", $0.option)] } ?? [])
            + (people.map { [("people", $0)] } ?? [])
    }
}

extension DestinationDeclaration {
    /// What a manifest without `destination` means, as releases before that member wrote them: the first of these options
    /// that it declares says it. Of the other options that belong to it, those count that it declares.
    /// - Parameter options: those that the manifest declares.
    private static func formerly(_ options: Value) -> Self {
        var found = former.first { !options[$0.place[0]].isNull } ?? Self(.database, word: "backend")
        found.place.removeAll { options[$0].isNull }
        if let token = found.token, options[token.option].isNull { found.token = nil }
        if let people = found.people, options[people].isNull { found.people = nil }
        return found
    }

    private static let former = [
        Self(.backend, place: ["url"], token: .init(option: "tokenFile", variable: "HEALTHBUS_BACKEND_TOKEN")),
        Self(
            .folder, place: ["folder"], variable: "HEALTHBUS_FILES_FOLDER", keeps: .files, people: "patients"),
        Self(
            .broker, place: ["broker", "topic"], keeps: .latest, isVerified: false,
            token: .init(option: "passwordFile", word: "password")),
        Self(
            .server, place: ["server"], variable: "HEALTHBUS_FHIR_SERVER", keeps: .latest,
            token: .init(option: "tokenFile", variable: "HEALTHBUS_FHIR_TOKEN"), people: "patients"),
        Self(
            .database, place: ["urlFile", "schema"],
            token: .init(option: "urlFile", variable: "HEALTHBUS_POSTGRES_URL", word: "URL")),
    ]
}
