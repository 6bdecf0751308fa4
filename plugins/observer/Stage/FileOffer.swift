import HealthModel
import MessageBus
import ObserverReading

/// What a command that can give a file's bytes has said of it: kept with the import until the file is in the inbox.
struct FileOffer: Equatable {
    /// The command's members but its id and its own name: who asks for exactly this again goes on with what is here.
    var request: Value
    /// When somebody last offered it.
    var heard: Instant

    /// Offers come each second, but are kept no more often than this.
    static let resolution = 60 * Instant.second
    /// What comes from a pipe can't be gone on with: it waits only as long as its sender may be out of reach.
    private static let patience = (file: 24 * 3600 * Instant.second, pipe: 180 * Instant.second)

    init(request: Value, heard: Instant) {
        self.request = request
        self.heard = heard
    }

    /// nil for a command that doesn't offer anything.
    init?(command: Value, heard: Instant) {
        guard Self.sender(of: command) != nil, var members = command.object else { return nil }
        for own in ["id", "sender"] { members[own] = nil }
        self.init(request: .object(members), heard: heard)
    }

    /// Where the bytes can be asked for: a tool, and never an instance of the stack.
    static func sender(of command: Value) -> String? {
        command["sender"].string.flatMap { BusName.isTool($0) && $0.utf8.count <= 128 ? $0 : nil }
    }

    /// nil for a pipe.
    var file: FileIdentity? { FileIdentity(request["file"]) }

    /// Whether nobody will send the rest any more.
    func isStale(at now: Instant) -> Bool { now - heard > (file == nil ? Self.patience.pipe : Self.patience.file) }
}
