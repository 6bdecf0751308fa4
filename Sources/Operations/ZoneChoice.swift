import HealthModel
import PluginKit

/// Which zone a stack's days begin in when it starts: the one that it was first started with. A later `--zone` doesn't change it, since every day would
/// be cut anew; a person says that with `zone set`.
public struct ZoneChoice: Sendable, Equatable {
    /// The zone that the state's timeline begins with; nil where that user has none yet.
    public let holds: String?
    /// What the command line names.
    public let asked: String?
    public let user: String

    public init(holds: String?, asked: String?, user: String) {
        (self.holds, self.asked, self.user) = (holds, asked, user)
    }

    /// - Parameter user: nil: whom the configuration names.
    public init(_ stack: Stack, asked: String?, user: String?) throws {
        let observer = try stack.instance(.observer)
        let user = user ?? observer.configuration["user"].string ?? "me"
        let page = try stack.reader(foundSilent: { _ in }).pages(observer, ZoneReport.query(user)).first
        self.init(holds: page.flatMap { ZoneReport.parts($0["timeline"]) }?.first?.zone, asked: asked, user: user)
    }

    /// What a person must know who asked for another zone than holds; nil when there is nothing to say.
    public var notice: String? {
        guard let holds, let asked, holds != asked else { return nil }
        let whose = user == "me" ? "" : " --user \(user)"
        return "zone   \(holds), which this state began with: --zone \(asked) isn't used. "
            + "'healthbus zone set \(asked)\(whose)' changes it, and has every day computed again"
    }
}
