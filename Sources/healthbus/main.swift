import Console
import Foundation
import HealthModel
import PluginKit
import Supervisor

let words = Array(CommandLine.arguments.dropFirst())
do {
    switch try Commands.all.select(words) {
    case .help(let text): StandardStream.output.write(text)
    case .command(let word, let arguments):
        switch word {
        case "up": try UpCommand.run(arguments)
        case "demo": try DemoCommand.run(arguments)
        case "run": try RunCommand.run(arguments)
        case "import": try ImportCommand.run(arguments)
        case "generate": try GenerateCommand.run(arguments)
        case "simulate": try SimulateCommand.run(arguments)
        case "status": try StatusCommand.run(arguments)
        case "types": try TypesCommand.run(arguments)
        case "device": try DeviceCommand.run(arguments)
        case "days": try DaysCommand.run(arguments)
        case "explain": try ExplainCommand.run(arguments)
        case "check": try CheckCommand.run(arguments)
        case "zone": try ZoneCommand.run(arguments)
        case "alerts": try AlertsCommand.run(arguments)
        case "sync": try SyncCommand.run(arguments)
        case "history": try HistoryCommand.run(arguments)
        case "tasks": try TasksCommand.run(arguments)
        default: try TapCommand.run(arguments)
        }
    }
} catch let error as ConfigurationError {
    reportAndExit(Failure(error.description, code: .usage), program: "healthbus")
} catch let error as ZoneError {
    reportAndExit(Failure(error.description, code: .usage), program: "healthbus")
} catch {
    reportAndExit(error, program: "healthbus")
}
