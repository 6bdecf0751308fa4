import PostgresStage
import StageKit

PluginProgram.run(.postgres)
