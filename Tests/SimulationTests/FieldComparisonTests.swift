import Foundation
import Simulation
import Testing

/// The simulated phone against what others say of real ones.
@Suite struct FieldComparisonTests {
    /// Over five seeds, each figure is what was chosen of the sources; the page shows them.
    @Test func everyFigureIsAsItsSourcesSayAndOnThePage() throws {
        let figures = try FieldComparison(shippedStack(), life: .init(seed: 1, days: 30)).figures
        var table =
            "| figure | unit | the field's reports | Apple | here, five seeds |\n| --- | --- | --- | --- | --- |\n"
        for figure in figures {
            let isAsChosen = [figure.ours.lowerBound, figure.ours.upperBound].allSatisfy(figure.chosen.contains)
            #expect(isAsChosen, "\(figure.name): \(figure.ours) isn't within \(figure.chosen)")
            #expect(!figure.reports.isEmpty && !figure.name.isEmpty)
            let apple = figure.apple.isEmpty ? "–" : figure.apple
            table += "| \(figure.name) | \(figure.unit) | \(figure.reports) | \(apple) | \(figure.oursText) |\n"
        }
        #expect(figures.count == 30)
        try hold(table)
    }

    /// With `HEALTHBUS_WRITE_DOCS=1` in the environment, the page is updated instead of being compared.
    private func hold(_ table: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = root.appending(path: "docs/simulation.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let begin = try #require(text.range(of: "<!-- sources -->\n"))
        let end = try #require(text.range(of: "<!-- end -->", range: begin.upperBound..<text.endIndex))
        if ProcessInfo.processInfo.environment["HEALTHBUS_WRITE_DOCS"] == "1" {
            try text.replacingCharacters(in: begin.upperBound..<end.lowerBound, with: table)
                .write(to: page, atomically: true, encoding: .utf8)
        } else {
            let isLevel = text[begin.upperBound..<end.lowerBound] == table
            #expect(isLevel, "docs/simulation.md is behind: run this test once with HEALTHBUS_WRITE_DOCS=1")
        }
    }

    /// Where an app is seldom opened, pushes are worth less than background delivery; nowhere are they worth more.
    @Test(arguments: AppUse.allCases) func pushesAreNoBetterThanBackgroundDelivery(use: AppUse) throws {
        func within(_ strategy: DeliveryStrategy) throws -> Double {
            try (1...5 as ClosedRange<UInt64>).map { seed in
                var life = PhoneLife.Options(seed: seed, days: 14, use: use)
                life.density = 0.1
                return try Simulator(shippedStack(), life: life, app: .ideal).measured(strategy)
                    .delivered(within: "24h")
            }.reduce(0, +) / 5
        }
        let (push, delivery) = (try within(.silentPush), try within(.backgroundDelivery))
        #expect(push <= delivery + 0.01)
        if use == .never || use == .weekly { #expect(push < delivery - 0.3) }
    }
}
