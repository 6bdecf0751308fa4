/// The origin of samples: an import or a device. It is recorded for each sample, so that everything from one origin can
/// be taken back.
package enum Bringer: Sendable, Hashable {
    /// One import, by its id.
    case importing(id: String)
    /// A device that pushes samples, and the way by which it sends them.
    case device(String, way: String)
    /// A repair of what an earlier release stored twice. It brings nothing: it is recorded for the rows that it has
    /// changed in a certain way.
    case repair(id: String, way: String)

    /// The kind's name in the store.
    var kind: String {
        switch self {
        case .importing: "import"
        case .device: "device"
        case .repair: Self.repairKind
        }
    }

    static let repairKind = "repair"

    var name: String {
        switch self {
        case .importing(let id): id
        case .device(let name, _): name
        case .repair(let id, _): id
        }
    }

    var way: String {
        switch self {
        case .importing: ""
        case .device(_, let way), .repair(_, let way): way
        }
    }
}

/// A selection of bringers.
package enum BringerChoice: Sendable, Hashable {
    case importing(id: String)
    /// A device, whichever way it sends its samples.
    case device(String)

    var kind: String {
        switch self {
        case .importing: "import"
        case .device: "device"
        }
    }

    var name: String {
        switch self {
        case .importing(let name), .device(let name): name
        }
    }
}
