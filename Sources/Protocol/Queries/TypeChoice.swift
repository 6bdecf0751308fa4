/// Which sample types a request asks for.
package enum TypeChoice: Sendable, Equatable {
    case only([String])
    case allExcept([String])

    package func takes(_ type: String) -> Bool {
        switch self {
        case .only(let types): types.contains(type)
        case .allExcept(let types): !types.contains(type)
        }
    }
}

extension TypeChoice: Codable {
    private enum Kind: CodingKey { case include, exclude }

    package init(from decoder: any Decoder) throws {
        let kind = try decoder.container(keyedBy: Kind.self)
        if let types = try? kind.decode([String].self, forKey: .include) {
            self = .only(types)
        } else {
            self = .allExcept(try kind.decode([String].self, forKey: .exclude))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var kind = encoder.container(keyedBy: Kind.self)
        switch self {
        case .only(let types): try kind.encode(types, forKey: .include)
        case .allExcept(let types): try kind.encode(types, forKey: .exclude)
        }
    }
}
