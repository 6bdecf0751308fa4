import Client
import HTTP
import HealthModel
import Protocol

/// The store's state, and what has changed besides samples: zones, and what is known about people.
struct ChangesStanding: Sendable {
    let head: StoreHead
    let beside: SpansPage
    /// Whether the observer doesn't continue from the position asked for.
    let isReset: Bool

    /// Asks the observer.
    /// - Parameter since: anything before it may be left out of the answer, but needn't be.
    /// - Throws: `silent`, or the observer's refusal.
    init(_ client: StackClient, _ observer: String, since: ChangesCursor?) throws {
        func ask(_ place: PullPlace) throws -> Page<SpansPage>? {
            let pages = try client.ask(observer, .spans(.only([])), place, within: 10)
            guard let pages else { throw Self.silent }
            return pages.first
        }
        var page: Page<SpansPage>?
        var isReset = false
        // A store continues from a position only if it knows that the position is its own; a visitor's cursor may claim
        // anything, so only what the observer itself has reported is presented as its own.
        if let since, let head = client.heartbeats[observer]?.beat.head, let known = since.place(in: head) {
            page = try ask(known)
            isReset = page == nil
        }
        if page == nil { page = try ask(PullPlace(of: nil, after: .beginning)) }
        guard let page, let head = page.head else { throw Self.silent }
        (self.head, beside, self.isReset) = (head, page.content, isReset)
    }

    static let silent = DashboardProblem(
        503, "the observer doesn't answer", hint: "ask again in a moment", headers: ["Retry-After": "2"])
}
